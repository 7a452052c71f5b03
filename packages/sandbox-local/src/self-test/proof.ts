/** What the attempts say of a backend's words. Pure. */

import { SANDBOX_EFFECTS, type SandboxEffect, type SandboxEffectState } from 'dsh-sandbox'

/** How an act was tried: as one that the word is about, or on the command's own, which must work in every mode. */
export type Direction = 'outside' | 'own'

/** One act in one direction: whether it works without confinement on this host, and under it. */
export interface Observation {
  readonly effect: SandboxEffect
  readonly act: string
  readonly direction: Direction
  readonly worksInTheOpen: boolean
  readonly worksConfined: boolean
}

/**
 * - `proved`: every act did as the word says, in both directions.
 * - `wrong`: some act did not.
 * - `unproved`: nothing can be tried on this host; the word stands on its table alone.
 */
export interface EffectProof {
  readonly effect: SandboxEffect
  readonly word: SandboxEffectState
  readonly proof: 'proved' | 'wrong' | 'unproved'
  /** Why it is not `proved`, in one line. */
  readonly why?: string
}

/** One proof per effect, in the order of {@link SANDBOX_EFFECTS}. Effects that are closed everywhere owe nothing to one's own. */
export function proofsOf(
  words: Readonly<Record<SandboxEffect, SandboxEffectState>>,
  observations: readonly Observation[],
  closedEverywhere: readonly SandboxEffect[],
): readonly EffectProof[] {
  return SANDBOX_EFFECTS.map((effect) => {
    const seen = observations.filter((one) => one.effect === effect && one.worksInTheOpen)
    const outside = seen.filter(({ direction }) => direction === 'outside')
    const own = closedEverywhere.includes(effect) ? [] : seen.filter(({ direction }) => direction === 'own')
    const word = words[effect]
    const fault = outsideFault(word, outside) ?? ownFault(own)
    if (fault !== undefined) return { effect, word, proof: 'wrong', why: fault }
    if (outside.length > 0) return { effect, word, proof: 'proved' }
    return {
      effect,
      word,
      proof: 'unproved',
      why: 'this user has nothing here to try it on',
    }
  })
}

function outsideFault(word: SandboxEffectState, outside: readonly Observation[]): string | undefined {
  const through = outside.filter(({ worksConfined }) => worksConfined)
  if (word === 'enforced' && through.length > 0) return `not stopped outside: ${namesOf(through)}`
  if (word === 'open' && outside.length > 0 && through.length === 0)
    return `stopped outside, though the word is open: ${namesOf(outside)}`
  return undefined
}

function ownFault(own: readonly Observation[]): string | undefined {
  const stopped = own.filter(({ worksConfined }) => !worksConfined)
  return stopped.length === 0 ? undefined : `stopped on the command's own: ${namesOf(stopped)}`
}

function namesOf(observations: readonly Observation[]): string {
  return observations.map(({ act }) => act).join(', ')
}
