import { describe, expect, it } from 'vitest'
import { DEMO_CASES, demoFaults } from './cases.ts'

const [read, inside, outside, background] = DEMO_CASES
const denied = { fileThere: false, ended: 1, stdout: '', denied: true }
const done = { fileThere: true, ended: 0, stdout: '', denied: false }

describe('all is well', () => {
  it.each([
    [
      read,
      'read-only',
      { fileThere: undefined, ended: 0, stdout: 'hello from the workspace\n', denied: false },
    ],
    [inside, 'read-only', denied],
    [inside, 'workspace-write', done],
    [outside, 'workspace-write', denied],
    [outside, 'danger-full-access', done],
    [background, 'read-only', { fileThere: undefined, ended: 'SIGTERM', stdout: 'ready\n', denied: false }],
  ] as const)('%j under %s', (demo, mode, seen) => {
    expect(demoFaults(demo, mode, seen)).toStrictEqual([])
  })
})

describe('a leaky backend', () => {
  it('is seen by the file alone', () => {
    expect(demoFaults(outside, 'workspace-write', { ...denied, fileThere: true })).toStrictEqual([
      'THE FILE WAS WRITTEN',
    ])
  })

  it('is seen in every other way, too', () => {
    expect(demoFaults(outside, 'read-only', done)).toStrictEqual([
      'THE FILE WAS WRITTEN',
      'not called denied',
      'unexpected end: 0',
    ])
  })
})

it('a backend that allows too little is seen', () => {
  expect(demoFaults(inside, 'workspace-write', denied)).toStrictEqual([
    'the file is missing',
    'called denied',
    'unexpected end: 1',
  ])
})

it('a command that says something else is seen', () => {
  const seen = { fileThere: undefined, ended: 0, stdout: '', denied: false }
  expect(demoFaults(read, 'read-only', seen)).toStrictEqual(['unexpected output: ""'])
})
