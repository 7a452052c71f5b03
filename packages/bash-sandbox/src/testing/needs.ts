/**
 * What a host may lack. What `DSH_REQUIRE_BACKENDS` asks for counts as there, so that a test which needs it runs, and fails
 * on a host without it.
 */

import { spawnSync } from 'node:child_process'
// oxlint-disable-next-line no-restricted-imports -- it is this host's provider that is asked
import { createLocalSandboxProvider } from 'dsh-sandbox-local'
import type { TestContext } from 'vitest'

const required = (process.env['DSH_REQUIRE_BACKENDS'] ?? '').split(',')
const isRequired = (...words: readonly string[]) => ['1', ...words].some((word) => required.includes(word))

const reports = await diagnosed()
const bwrap = reports.find(({ backend }) => backend === 'bwrap')
const landlock = reports.find(({ backend }) => backend === 'landlock')

const PRESENT = {
  bwrap: isRequired('bwrap') || bwrap?.usable === true,
  // Without the launcher, bubblewrap is another combination: nothing is reported and no Landlock lies underneath.
  'bwrap with the launcher': isRequired('bwrap') || bwrap?.enforcement?.['read-only'] === 'full',
  landlock: isRequired('landlock') || landlock?.usable === true,
  'bwrap or landlock': isRequired('bwrap', 'landlock') || reports.some(({ usable }) => usable),
  'a C compiler': isRequired('bwrap', 'landlock') || spawnSync('gcc', ['--version']).status === 0,
} as const

export type Need = keyof typeof PRESENT

/** What the tests of a backend need that hold for it in full. */
export const NEED_OF = { bwrap: 'bwrap with the launcher', landlock: 'landlock' } as const

async function diagnosed() {
  const provider = createLocalSandboxProvider()
  try {
    return await provider.diagnose()
  } finally {
    await provider.dispose()
  }
}

/** False where tests that need `need` are to be skipped. */
export function has(need: Need): boolean {
  return PRESENT[need]
}

/** Ends the test as skipped where `need` is lacking, and says so. */
export function skipWithout(skip: TestContext['skip'], need: Need): void {
  skip(!has(need), `needs ${need}, which is not here`)
}
