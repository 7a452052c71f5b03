/** The runner itself, with an executor that confines nothing and with cases that are wrong on purpose. */

import { createLocalBash } from 'dsh-bash-local'
import type { BashExecutor } from 'dsh-bash'
import type { SandboxEffects } from 'dsh-sandbox'
import { describe, expect, it } from 'vitest'
import { CORPUS_BACKENDS, type CorpusCase, expectationOn, loadCorpus } from './corpus.ts'
import { kernelIsBefore } from './kernel.ts'
import { type Bench, runCase } from './run-case.ts'

const ATTACK = {
  id: 'attack',
  area: 'test',
  mode: 'workspace-write',
  why: 'for the runner',
  source: 'none',
  hostile: true,
  script: 'echo x > "$OUTSIDE/new"',
  expect: { absent: ['outside/new'] },
  attackWorked: { contents: { 'outside/new': 'x\n' } },
} as const satisfies CorpusCase

/** An executor that confines nothing and says of `metadata` what it is told to. */
function boast(metadata: 'enforced' | 'open'): BashExecutor {
  const bash = createLocalBash()
  // A word for one effect is all that these cases ask for.
  const effects = { metadata } as SandboxEffects
  return {
    ...bash,
    run: async (spec) => ({
      ...(await bash.run(spec)),
      sandbox: { mode: 'read-only', denied: false, effects },
    }),
  }
}

function bench(makeExecutor: Bench['makeExecutor'] = async () => createLocalBash()): Bench {
  return { backend: 'bwrap', user: 'user', leak: undefined, makeExecutor }
}

describe('a case', () => {
  it('fails when the attack works inside', async () => {
    const { outcome, why } = await runCase(ATTACK, bench())
    expect({ outcome, why }).toEqual({ outcome: 'fail', why: ['outside/new should not exist, but does'] })
  })

  it('is void when the attack does not work in the open', async () => {
    const { outcome, why, lacks } = await runCase({ ...ATTACK, script: 'true' }, bench())
    const line = 'in the open: contents of outside/new: expected "x\\n", found undefined'
    expect({ outcome, why, lacks }).toEqual({ outcome: 'void', why: [line], lacks: [] })
  })

  it('fails when nothing could be run', async () => {
    const { outcome, why } = await runCase(
      ATTACK,
      bench(() => Promise.reject(new Error('no backend'))),
    )
    expect({ outcome, why }).toEqual({ outcome: 'fail', why: ['refused, but should have run: no backend'] })
  })

  it('holds an executor to "enforced"', async () => {
    const { outcome } = await runCase(
      { ...ATTACK, effect: 'metadata' },
      bench(async () => boast('enforced')),
    )
    expect(outcome).toBe('fail')
  })

  it('holds an executor to "open", where that may be', async () => {
    const open = { ...ATTACK, effect: 'metadata', openOn: { bwrap: 'always' } } as const
    expect(
      (
        await runCase(
          open,
          bench(async () => boast('open')),
        )
      ).outcome,
    ).toBe('pass')
    const stopped = {
      ...open,
      steps: [{ script: 'echo x > "$OUTSIDE/new"' }, { script: 'true', before: [{ remove: 'outside/new' }] }],
    }
    const { script: _replaced, ...rest } = stopped
    expect(
      (
        await runCase(
          rest,
          bench(async () => boast('open')),
        )
      ).outcome,
    ).toBe('void')
  })

  it('does not take "open" for an excuse where the case names none', async () => {
    const { outcome, why } = await runCase(
      { ...ATTACK, effect: 'metadata' },
      bench(async () => boast('open')),
    )
    expect(outcome).toBe('fail')
    expect(why.join()).not.toContain('is open here')
  })
})

describe('the corpus', () => {
  it('has its areas', () => {
    const areas = [...new Set(loadCorpus().map(({ area }) => area))]
    expect(areas.toSorted()).toEqual([
      'descriptors',
      'devices',
      'environment',
      'exits',
      'kernel-surface',
      'metadata',
      'mounts',
      'names',
      'output',
      'proc',
      'processes',
      'roots',
      'special-files',
      'temp',
      'verdict',
      'workspace',
      'write',
    ])
  })

  it('expects something of every case on every backend', () => {
    const empty = loadCorpus().filter(
      (one) =>
        !CORPUS_BACKENDS.every((backend) => Object.keys(expectationOn(one, backend, 'user')).length > 0),
    )
    expect(empty).toEqual([])
  })
})

describe('kernelIsBefore', () => {
  it.each([
    ['6.12', '6.11.9-amd64', true],
    ['6.12', '6.12.0', false],
    ['6.12', '6.2.0', true],
    ['6.12', '7.0.1', false],
    ['6.12', '5.19.0', true],
  ])('%s against %s', (version, running, before) => {
    expect(kernelIsBefore(version, running)).toBe(before)
  })
})
