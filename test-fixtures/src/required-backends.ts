/**
 * Which backends this host must have. `DSH_REQUIRE_BACKENDS` is `1` for all of them, or names them with commas; CI sets
 * it, so that nothing is passed over there.
 */

import { createLocalSandboxProvider } from 'dsh-sandbox-local'
import type { CorpusBackend } from './corpus.ts'

/** True when a host without `backend` is a failure. */
export function isRequired(backend: CorpusBackend): boolean {
  const required = process.env['DSH_REQUIRE_BACKENDS'] ?? ''
  return required === '1' || required.split(',').includes(backend)
}

/** Why `backend` cannot be used here; undefined when it can. */
export async function backendFault(backend: CorpusBackend): Promise<string | undefined> {
  const provider = createLocalSandboxProvider({ backend })
  try {
    const report = (await provider.diagnose()).find((one) => one.backend === backend)
    if (report?.usable === true) return undefined
    const { step, detail, fix } = report?.failure ?? {
      step: 'find',
      detail: 'no such rung here',
      fix: 'none',
    }
    return `${backend} is not usable: ${step}: ${detail} (fix: ${fix})`
  } finally {
    await provider.dispose()
  }
}
