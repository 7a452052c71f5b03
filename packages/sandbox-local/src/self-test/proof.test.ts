import { SANDBOX_EFFECTS } from 'dsh-sandbox'
import { describe, expect, it } from 'vitest'
import { effectsOf } from '../effects.ts'
import { proofsOf, type EffectProof, type Observation } from './proof.ts'

const WORDS = effectsOf({ landlockAbi: 7 })

const seen = (over: Partial<Observation>): Observation => ({
  effect: 'write',
  act: 'write',
  direction: 'outside',
  worksInTheOpen: true,
  worksConfined: false,
  ...over,
})

function proofOf(effect: string, observations: readonly Observation[], unpromised: 'metadata'[] = []) {
  return proofsOf(WORDS, observations, unpromised).find((one) => one.effect === effect)
}

describe('a word', () => {
  it('has a proof for each effect, in order', () => {
    expect(proofsOf(WORDS, [], []).map(({ effect }) => effect)).toEqual(SANDBOX_EFFECTS)
  })

  it.each<[string, Partial<Observation>[], EffectProof['proof'], string | undefined]>([
    ['enforced, and stopped', [{}], 'proved', undefined],
    ['enforced, and one act gets through', [{}, { act: 'append', worksConfined: true }], 'wrong', 'append'],
    ['enforced, and nothing works in the open', [{ worksInTheOpen: false }], 'unproved', 'nothing here'],
    ['enforced, and nothing was tried', [], 'unproved', 'nothing here'],
    ["enforced, and the command's own is stopped too", [{}, { direction: 'own' }], 'wrong', "command's own"],
    [
      "enforced, and the command's own works",
      [{}, { direction: 'own', worksConfined: true }],
      'proved',
      undefined,
    ],
    [
      'enforced, and only the own was tried',
      [{ direction: 'own', worksConfined: true }],
      'unproved',
      'nothing here',
    ],
  ])('%s', (_, observations, proof, why) => {
    const found = proofOf('write', observations.map(seen))
    expect(found).toMatchObject({ effect: 'write', word: 'enforced', proof })
    if (why !== undefined) expect(found?.why).toContain(why)
  })

  it.each<[string, Partial<Observation>[], EffectProof['proof']]>([
    ['open, and an act gets through', [{ worksConfined: true }], 'proved'],
    ['open, and one of two gets through', [{ worksConfined: true }, { act: 'utimes' }], 'proved'],
    ['open, and everything is stopped', [{}, { act: 'utimes' }], 'wrong'],
    ['open, and nothing works in the open', [{ worksInTheOpen: false }], 'unproved'],
  ])('%s', (_, observations, proof) => {
    const metadata = observations.map((one) => seen({ effect: 'metadata', act: 'chmod', ...one }))
    expect(proofOf('metadata', metadata)).toMatchObject({ word: 'open', proof })
  })

  it("owes nothing to the command's own where that was not promised", () => {
    const own = [
      seen({ effect: 'metadata', worksConfined: true }),
      seen({ effect: 'metadata', direction: 'own', worksConfined: false }),
    ]
    expect(proofOf('metadata', own)?.proof).toBe('wrong')
    expect(proofOf('metadata', own, ['metadata'])?.proof).toBe('proved')
  })
})
