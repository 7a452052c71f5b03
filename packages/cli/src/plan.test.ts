import { expect, it } from 'vitest'
import { runPlan } from './plan.ts'

const bare = { kind: 'run', argv: ['ls'], json: false } as const

it('is read-only, in the current directory, without a limit, unless someone says otherwise', () => {
  expect(runPlan(bare, undefined, '/here')).toStrictEqual({
    argv: ['ls'],
    mode: 'read-only',
    workspaceRoot: '/here',
    cwd: '/here',
    backend: 'auto',
    timeoutMs: 2_147_483_647,
    tmp: 'private',
    requires: [],
    json: false,
  })
})

it('takes from the profile what no flag says', () => {
  const plan = runPlan(bare, { mode: 'workspace-write', timeoutMs: 900_000 }, '/here')
  expect([plan.mode, plan.timeoutMs]).toStrictEqual(['workspace-write', 900_000])
})

it('puts flags above the profile', () => {
  const run = { ...bare, mode: 'read-only', timeoutMs: 5 } as const
  const plan = runPlan(run, { mode: 'workspace-write', timeoutMs: 900_000 }, '/here')
  expect([plan.mode, plan.timeoutMs]).toStrictEqual(['read-only', 5])
})

it('starts where it was called, wherever the workspace is', () => {
  const plan = runPlan({ ...bare, workspace: '../ws' }, undefined, '/here/deep')
  expect([plan.workspaceRoot, plan.cwd]).toStrictEqual(['/here/ws', '/here/deep'])
})

it('adds the requirements of flags to those of the profile', () => {
  const run = { ...bare, requires: ['metadata', 'write'] } as const
  const plan = runPlan(run, { mode: 'read-only', requires: ['write', 'truncate'] }, '/here')
  expect(plan.requires).toStrictEqual(['write', 'truncate', 'metadata'])
})
