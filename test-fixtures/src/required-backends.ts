/**
 * Which backends this host must have. `DSH_REQUIRE_BACKENDS` is `1` for all of them, or names them with commas; CI sets
 * it, so that nothing is passed over there.
 */

import { createLocalSandboxProvider } from 'dsh-sandbox-local'
import { BACKEND_CHOICE, type CorpusBackend } from './corpus.ts'

/** True when a host without `backend` is a failure. bubblewrap brings both of its kinds. */
export function isRequired(backend: CorpusBackend): boolean {
  const required = (process.env['DSH_REQUIRE_BACKENDS'] ?? '').split(',')
  return required.includes('1') || required.includes(BACKEND_CHOICE[backend])
}

/** Why `backend` cannot be used here; undefined when it can. */
export async function backendFault(backend: CorpusBackend): Promise<string | undefined> {
  const choice = BACKEND_CHOICE[backend]
  const provider = createLocalSandboxProvider({ backend: choice })
  try {
    const report = (await provider.diagnose()).find((one) => one.backend === choice)
    if (backend === 'bwrap' && report?.note?.startsWith('without the launcher') === true)
      return 'bwrap is here without the launcher, which is bwrap-alone'
    if (report?.usable === true) return undefined
    const { step, detail, fix } = report?.failure ?? {
      step: 'find',
      detail: 'no such rung here',
      fix: 'none',
    }
    return `${choice} is not usable: ${step}: ${detail} (fix: ${fix})`
  } finally {
    await provider.dispose()
  }
}
