/** What `doctor` exits with. The provider's answer is made up here: no backend can be had that is wrong on purpose. */

import type { BackendProof, EffectProof } from 'dsh-sandbox-local'
import { afterEach, expect, it, vi } from 'vitest'
import { main } from './main.ts'

const answers = vi.hoisted((): { proofs: BackendProof[] } => ({ proofs: [] }))
vi.mock('./backends.ts', () => ({ proveBackends: () => Promise.resolve(answers.proofs) }))
const printed = vi.hoisted((): string[] => [])
vi.mock('./output.ts', () => ({
  write: (_stream: unknown, text: string) => Promise.resolve(void printed.push(text)),
}))
afterEach(() => printed.splice(0))

function backendWith(proof: EffectProof['proof']): BackendProof {
  const effects = [{ effect: 'write', word: 'enforced', proof, why: 'not stopped outside: write' }] as const
  return {
    report: { backend: 'bwrap', usable: true },
    modes: [{ mode: 'read-only', enforcement: 'full', effects }],
  }
}

it.each([
  ['proved', 0],
  ['unproved', 0],
  ['wrong', 1],
] as const)('a word that is %s ends the doctor with %i, as text and as JSON', async (proof, status) => {
  answers.proofs = [backendWith(proof)]
  expect([await main(['doctor']), await main(['doctor', '--json'])]).toEqual([status, status])
  expect(printed.length).toBe(2)
  expect(printed[0]?.includes('WRONG')).toBe(proof === 'wrong')
})
