import { SANDBOX_EFFECTS } from 'dsh-sandbox'
import type { BackendProof, BackendReport, EffectProof } from 'dsh-sandbox-local'
import { describe, expect, it } from 'vitest'
import { diagnosisJson, diagnosisText } from './doctor.ts'
import { paletteFor } from './report.ts'

const PLAIN = paletteFor({}, {})

const BWRAP: BackendReport = {
  backend: 'bwrap',
  usable: true,
  path: '/usr/bin/bwrap',
  version: '0.8.0',
  enforcement: { 'read-only': 'full', 'workspace-write': 'full' },
}
const LANDLOCK: BackendReport = {
  backend: 'landlock',
  usable: false,
  abi: 0,
  failure: { step: 'ruleset', detail: 'ENOSYS\nno Landlock', fix: 'run a kernel with Landlock' },
}

/** All proved, but for those given. */
function words(...others: readonly EffectProof[]): readonly EffectProof[] {
  return SANDBOX_EFFECTS.map(
    (effect) =>
      others.find((one) => one.effect === effect) ?? { effect, word: 'enforced', proof: 'proved' as const },
  )
}

const unstated = (report: BackendReport): BackendProof => ({ report, modes: [] })

function stated(...others: readonly EffectProof[]): BackendProof {
  return {
    report: BWRAP,
    modes: [
      { mode: 'read-only', enforcement: 'full', effects: words() },
      { mode: 'workspace-write', enforcement: 'partial', effects: words(...others) },
    ],
  }
}

describe('the diagnosis', () => {
  it('names the failed step and the way out of each backend that does not work', () => {
    const works = { report: BWRAP, modes: [{ mode: 'read-only', enforcement: 'full', effects: [] }] } as const
    expect(diagnosisText([works, unstated(LANDLOCK)], PLAIN)).toStrictEqual({
      status: 0,
      text: [
        '┌──────────┬────────┬─────────────┬─────────┬────────────────┐',
        '│ backend  │ usable │ enforcement │ version │ path           │',
        '│ bwrap    │ yes    │ full        │ 0.8.0   │ /usr/bin/bwrap │',
        '│ landlock │ no     │ -           │ ABI 0   │ -              │',
        '└──────────┴────────┴─────────────┴─────────┴────────────────┘',
        'landlock: ruleset: ENOSYS; no Landlock',
        '  fix: run a kernel with Landlock',
        '',
      ].join('\n'),
    })
  })

  it('says so when nothing works', () => {
    const { status, text } = diagnosisText([unstated(LANDLOCK)], PLAIN)
    expect(status).toBe(1)
    expect(text.split('\n').at(-2)).toBe('No backend works here: every confined mode will be refused.')
  })

  it('tells notes of backends that do work', () => {
    const { text } = diagnosisText([unstated({ ...BWRAP, note: 'no user namespace' })], PLAIN)
    expect(text.split('\n').at(-2)).toBe('bwrap: no user namespace')
  })
})

describe('the matrix of effects', () => {
  it('has a row for each effect, a column for each mode, and both enforcements where they differ', () => {
    const { status, text } = diagnosisText([stated({ effect: 'udp', word: 'open', proof: 'proved' })], PLAIN)
    expect(status).toBe(0)
    expect(text).toContain('│ effect             │ bwrap     │ bwrap           │')
    expect(text).toContain('│ udp                │ enforced  │ open            │')
    expect(text).toContain('full (read-only)')
    expect(text).toContain('partial (workspace-write)')
    for (const effect of SANDBOX_EFFECTS) expect(text).toContain(`│ ${effect} `)
  })

  it('a wrong word is an exit status of its own, and a line that says what was seen', () => {
    const proof = {
      effect: 'metadata',
      word: 'enforced',
      proof: 'wrong',
      why: 'not stopped outside: chmod',
    } as const
    const { status, text } = diagnosisText([stated(proof)], PLAIN)
    expect(status).toBe(1)
    expect(text).toContain('enforced: WRONG')
    expect(text).toContain(
      'bwrap: workspace-write: metadata is said to be enforced, and is not: not stopped outside: chmod\n  fix: ',
    )
    expect(diagnosisJson([stated(proof)]).status).toBe(1)
  })

  it('a word that cannot be proved here is marked, named once, and no failure', () => {
    const proof = { effect: 'tcp', word: 'open', proof: 'unproved', why: 'no network' } as const
    const { status, text } = diagnosisText([stated(proof)], PLAIN)
    expect(status).toBe(0)
    expect(text).toContain('│ open *          │')
    expect(text.split('\n').at(-2)).toBe('* bwrap: tcp not proved: no network')
  })

  it('colours words where colours are wanted', () => {
    const colours = paletteFor({ isTTY: true }, {})
    const { text } = diagnosisText([stated({ effect: 'udp', word: 'open', proof: 'proved' })], colours)
    expect(text).toContain(colours.green('enforced'))
    expect(text).toContain(colours.yellow('open'))
  })
})

it('gives a machine the reports and the proofs as they are', () => {
  const { status, text } = diagnosisJson([stated(), unstated(LANDLOCK)])
  expect(status).toBe(0)
  expect(JSON.parse(text)).toStrictEqual({
    usable: true,
    wrong: 0,
    backends: [
      { ...BWRAP, modes: stated().modes },
      { ...LANDLOCK, modes: [] },
    ],
  })
  expect(diagnosisJson([unstated(LANDLOCK)]).status).toBe(1)
  expect(diagnosisJson([])).toStrictEqual({ status: 1, text: '{"usable":false,"wrong":0,"backends":[]}\n' })
})
