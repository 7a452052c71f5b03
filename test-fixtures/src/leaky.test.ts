/** The suites against providers that leak: each must be caught, by the case and by the check that are named here. */

import { AssertionError } from 'node:assert'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { LAUNCHED_BACKENDS, type LaunchedBackend } from './corpus.ts'
import { makeProvider, type ProviderName } from './leaky-providers.ts'
import { PROVIDER_CHECKS } from './provider-conformance.ts'
import { backendFault, isRequired } from './required-backends.ts'
import { runCorpus } from './run-corpus.ts'
import { withFolder } from './scratch.ts'

const MAIN = fileURLToPath(new URL('../dist/corpus-main.js', import.meta.url))

interface Catch {
  readonly provider: Exclude<ProviderName, 'local'>
  /** Cases of the corpus that must fail. */
  readonly cases: readonly string[]
  /** Checks of the conformance suite that must reject. */
  readonly checks: readonly string[]
  /** Absent: every backend. */
  readonly backends?: readonly LaunchedBackend[]
}

const CATCHES: readonly Catch[] = [
  {
    provider: 'leaky-argv',
    cases: ['create-outside', 'write-workspace-read-only', 'signal-term-host'],
    checks: [
      'the argv that was given is never what comes back',
      'read-only closes the workspace and opens the temp',
      'workspace-write opens the workspace and closes the rest',
    ],
  },
  {
    provider: 'leaky-read-only',
    cases: ['write-workspace-read-only', 'remove-workspace-file-read-only', 'truncate-workspace-read-only'],
    checks: ['read-only closes the workspace and opens the temp'],
  },
  {
    provider: 'leaky-tmp',
    cases: ['temp-spares-host-tmp', 'temp-does-not-write-host-tmp', 'outside-under-tmp'],
    checks: ["the host's /tmp stays closed", 'sessions have a temp each, kept between calls'],
  },
  {
    provider: 'leaky-descriptors',
    cases: ['inherited-folder', 'inherited-file', 'inherited-file-reopened', 'only-standard-descriptors'],
    checks: [],
    backends: ['bwrap'],
  },
  {
    provider: 'leaky-parent',
    cases: ['create-outside', 'symlink-door-create', 'write-beside-workspace'],
    checks: [
      'the parent of the workspace stays closed',
      'workspace-write opens the workspace and closes the rest',
    ],
  },
  {
    provider: 'leaky-first-policy',
    cases: ['temp-not-shared'],
    checks: ['the policy is that of the call', 'sessions have a temp each, kept between calls'],
  },
  {
    provider: 'leaky-session',
    cases: ['temp-not-shared', 'temp-of-another-session-closed'],
    checks: ['sessions have a temp each, kept between calls'],
  },
]

for (const backend of LAUNCHED_BACKENDS) {
  const fault = await backendFault(backend)
  describe(`leaky providers over ${backend}`, () => {
    for (const { provider, cases, checks, backends = LAUNCHED_BACKENDS } of CATCHES) {
      if (!backends.includes(backend)) continue
      it(`${provider} is caught by the corpus`, { timeout: 60_000 }, async ({ skip }) => {
        if (fault !== undefined) {
          expect(isRequired(backend), fault).toBe(false)
          skip(fault)
        }
        const user = process.getuid?.() === 0 ? 'root' : 'user'
        const reports = await runCorpus({ main: MAIN, backend, user, provider, caseIds: cases })
        expect(reports.map(({ id, outcome }) => [id, outcome]).toSorted()).toEqual(
          cases.map((id) => [id, 'fail']).toSorted(),
        )
      })
      for (const title of checks) {
        it(`${provider} is caught by the check "${title}"`, async ({ skip }) => {
          if (fault !== undefined) {
            expect(isRequired(backend), fault).toBe(false)
            skip(fault)
          }
          const holds = PROVIDER_CHECKS[title]
          expect(holds, title).toBeDefined()
          const caught = withFolder(
            (folder) => holds?.({ make: () => makeProvider(provider, backend), folder }) ?? Promise.resolve(),
          )
          await expect(caught).rejects.toBeInstanceOf(AssertionError)
        })
      }
    }
  })
}
