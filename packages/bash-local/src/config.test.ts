import { describe, expect, it } from 'vitest'
import { Config, resolveConfig } from './config.ts'

describe('defaults', () => {
  it('are filled in for every key but the spill parent', () => {
    expect(resolveConfig()).toEqual({
      cwd: process.cwd(),
      timeoutMs: 120_000,
      maxTimeoutMs: 600_000,
      maxOutputBytes: 64_000,
      maxSpillBytes: 67_108_864,
      graceMs: 3_000,
    })
  })

  it('are left alone by a second reading', () => {
    const once = resolveConfig({ cwd: '/', spillParent: '/tmp' })
    expect(resolveConfig(once)).toEqual(once)
  })
})

describe('faults', () => {
  const numbers = ['timeoutMs', 'maxTimeoutMs', 'maxOutputBytes', 'maxSpillBytes', 'graceMs']

  it.each(numbers)('%s must be positive and finite', (name) => {
    for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, '1', null]) {
      // A wrong type is what the test is about.
      const input = { [name]: value } as never
      expect(() => resolveConfig(input)).toThrow(
        new TypeError(`bash-local: ${name} must be a positive finite number`),
      )
    }
  })

  it.each([
    [{ cwd: 'here' }, 'bash-local: cwd must be an absolute path without NUL bytes'],
    [{ spillParent: './x' }, 'bash-local: spillParent must be an absolute path without NUL bytes'],
    [{ graceMs: 2_147_483_648 }, 'bash-local: graceMs must be at most 2147483647'],
    [{ gracems: 1 }, 'bash-local: unknown key "gracems"'],
    [{ a: 1, b: 2 }, 'bash-local: unknown key "a", "b"'],
    [{ timeoutMs: 0, cwd: 'x' }, /^bash-local: cwd .*; bash-local: timeoutMs /],
    [[], 'bash-local: config must be an object'],
  ])('%j is refused by name', (input, message) => {
    expect(() => resolveConfig(input as never)).toThrow(message)
  })

  it('are told through Standard Schema as well', async () => {
    const result = await Config['~standard'].validate({ timeoutMs: -1 })
    expect(result.issues?.map((issue) => [issue.path, issue.message])).toEqual([
      [['timeoutMs'], 'bash-local: timeoutMs must be a positive finite number'],
    ])
  })

  it('do not include the longest grace', () => {
    expect(resolveConfig({ graceMs: 2_147_483_647 }).graceMs).toBe(2_147_483_647)
  })
})
