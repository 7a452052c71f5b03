/** Every executor of this family against the one suite. */

import { createLocalBash } from 'dsh-bash-local'
import { createSandboxedBash } from 'dsh-bash-sandbox'
import { createLocalSandboxProvider } from 'dsh-sandbox-local'
import { afterAll, describe, expect, it } from 'vitest'
import { LAUNCHED_BACKENDS } from './corpus.ts'
import { describeBashExecutor } from './executor-conformance.ts'
import { backendFault, isRequired } from './required-backends.ts'
import { inNewSession } from './shared-provider.ts'

const UNCONFINED = { exactSignals: true, endsOtherSessions: false } as const

describeBashExecutor('local bash', { sandboxMode: undefined, ...UNCONFINED }, async (options) =>
  createLocalBash(options),
)

describeBashExecutor(
  'bash with full access',
  { sandboxMode: 'danger-full-access', ...UNCONFINED },
  (options) => createSandboxedBash({ ...options, mode: 'danger-full-access', workspaceRoot: options.cwd }),
)

/** The launcher reports the exact end, and leaves nobody behind. */
const CONFINED = { exactSignals: true, endsOtherSessions: true } as const

for (const backend of LAUNCHED_BACKENDS) {
  const fault = await backendFault(backend)
  if (fault === undefined) {
    const provider = createLocalSandboxProvider({ backend })
    afterAll(() => provider.dispose())
    for (const mode of ['read-only', 'workspace-write'] as const) {
      const traits = { sandboxMode: mode, ...CONFINED }
      describeBashExecutor(`${mode} bash under ${backend}`, traits, (options) =>
        createSandboxedBash({
          ...options,
          mode,
          provider: inNewSession(provider),
          workspaceRoot: options.cwd,
        }),
      )
    }
  } else {
    describe(`sandboxed bash under ${backend}`, () => {
      it('is wanted only where the backend is', ({ skip }) => {
        expect(isRequired(backend), fault).toBe(false)
        skip(fault)
      })
    })
  }
}
