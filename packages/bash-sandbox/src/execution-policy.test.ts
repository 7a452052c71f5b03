import { describe, expect, it } from 'vitest'
import type { SandboxExecutionPolicy } from 'dsh-sandbox'
import { executionPolicy } from './execution-policy.ts'

const DEFAULTS: SandboxExecutionPolicy = {
  mode: 'read-only',
  workspaceRoot: '/ws',
  writableRoots: ['/cache'],
}

describe('the policy of a call', () => {
  it('is the default one', () => {
    expect(executionPolicy({}, DEFAULTS)).toEqual(DEFAULTS)
  })

  it("is the default one under the request's mode", () => {
    expect(executionPolicy({ sandboxMode: 'workspace-write' }, DEFAULTS)).toEqual({
      ...DEFAULTS,
      mode: 'workspace-write',
    })
  })

  it("is the request's whole policy, which takes nothing from the default one", () => {
    const own: SandboxExecutionPolicy = { mode: 'workspace-write', workspaceRoot: '/other', sessionId: 's' }
    expect(executionPolicy({ sandboxPolicy: own, sandboxMode: 'danger-full-access' }, DEFAULTS)).toEqual(own)
  })

  it.each(['', 'full', 'Read-Only', 'danger', null, 7])('is refused with mode %j', (mode) => {
    // The types rule it out; a caller without types does not know that.
    const bad = mode as unknown as 'read-only'
    const message = `unknown sandbox mode "${String(mode)}"; the modes are read-only, workspace-write, danger-full-access`
    expect(() => executionPolicy({ sandboxPolicy: { mode: bad, workspaceRoot: '/ws' } }, DEFAULTS)).toThrow(
      new TypeError(message),
    )
    expect(() => executionPolicy({}, { ...DEFAULTS, mode: bad })).toThrow(new TypeError(message))
  })
})
