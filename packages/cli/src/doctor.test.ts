import type { BackendReport } from 'dsh-sandbox-local'
import { describe, expect, it } from 'vitest'
import { diagnosisJson, diagnosisText } from './doctor.ts'
import { paletteFor } from './report.ts'

const PLAIN = paletteFor({}, {})

const BWRAP: BackendReport = {
  backend: 'bwrap',
  usable: true,
  path: '/usr/bin/bwrap',
  version: '0.8.0',
  enforcement: 'full',
}
const LANDLOCK: BackendReport = {
  backend: 'landlock',
  usable: false,
  abi: 0,
  failure: { step: 'ruleset', detail: 'ENOSYS\nno Landlock', fix: 'run a kernel with Landlock' },
}

describe('the diagnosis', () => {
  it('names the failed step and the way out of each backend that does not work', () => {
    expect(diagnosisText([BWRAP, LANDLOCK], PLAIN)).toStrictEqual({
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
    const { status, text } = diagnosisText([LANDLOCK], PLAIN)
    expect(status).toBe(1)
    expect(text.split('\n').at(-2)).toBe('No backend works here: every confined mode will be refused.')
  })

  it('tells notes of backends that do work', () => {
    const { text } = diagnosisText([{ ...BWRAP, note: 'no user namespace' }], PLAIN)
    expect(text.split('\n').at(-2)).toBe('bwrap: no user namespace')
  })

  it('gives a machine the reports as they are', () => {
    const { status, text } = diagnosisJson([BWRAP, LANDLOCK])
    expect(status).toBe(0)
    expect(JSON.parse(text)).toStrictEqual({ usable: true, backends: [BWRAP, LANDLOCK] })
    expect(diagnosisJson([LANDLOCK]).status).toBe(1)
    expect(diagnosisJson([])).toStrictEqual({ status: 1, text: '{"usable":false,"backends":[]}\n' })
  })
})
