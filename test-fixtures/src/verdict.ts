/** Compares what an executor says about a command with what a case expects it to say. */

import type { Ending } from './ending.ts'
import type { Verdict } from './corpus.ts'
import { pathIn, type World } from './world.ts'

function field(error: Error, name: 'code' | 'rule'): unknown {
  return Object.entries(error).find(([key]) => key === name)?.[1]
}

function errorDifferences(error: Error | undefined, expected: Verdict['error']): readonly string[] {
  if (expected === undefined)
    return error === undefined ? [] : [`refused, but should have run: ${error.message}`]
  if (error === undefined) return [`ran, but should have been refused with ${expected.code}`]
  return (['code', 'rule'] as const).flatMap((name) => {
    const wanted = expected[name]
    const found = field(error, name)
    return wanted === undefined || wanted === found
      ? []
      : [`the error's ${name}: expected ${wanted}, found ${String(found)} (${error.name}: ${error.message})`]
  })
}

/** Where the facts that come with `ending` differ. Members that `expected` leaves out say nothing, but `error`: none. */
export function verdictDifferences(world: World, ending: Ending, expected: Verdict): readonly string[] {
  const facts = [
    ['denied', expected.denied, ending.sandbox?.denied],
    ['enforcement', expected.enforcement, ending.sandbox?.enforcement],
    ['confidence', expected.confidence, ending.sandbox?.denial?.confidence],
    [
      'denied path',
      expected.deniedPath === undefined ? undefined : pathIn(world, expected.deniedPath),
      ending.sandbox?.denial?.path,
    ],
  ] as const
  return [
    ...errorDifferences(ending.error, expected.error),
    ...facts.flatMap(([name, wanted, found]) =>
      wanted === undefined || wanted === found ? [] : [`${name}: expected ${wanted}, found ${found}`],
    ),
  ]
}
