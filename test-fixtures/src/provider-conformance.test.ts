/** Every backend of the local provider against the one suite. */

import { createLocalSandboxProvider } from 'dsh-sandbox-local'
import { describe, expect, it } from 'vitest'
import { LAUNCHED_BACKENDS } from './corpus.ts'
import { describeSandboxProvider } from './provider-conformance.ts'
import { backendFault, isRequired } from './required-backends.ts'

for (const backend of LAUNCHED_BACKENDS) {
  const fault = await backendFault(backend)
  if (fault === undefined) {
    describeSandboxProvider(`the local provider with ${backend}`, () =>
      createLocalSandboxProvider({ backend }),
    )
  } else {
    describe(`the local provider with ${backend}`, () => {
      it('is wanted only where the backend is', ({ skip }) => {
        expect(isRequired(backend), fault).toBe(false)
        skip(fault)
      })
    })
  }
}
