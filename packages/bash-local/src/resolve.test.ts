import { describe, expect, it } from 'vitest'
import { ownerToken } from 'dsh-bash'
import { resolveConfig } from './config.ts'
import { resolveRequest } from './resolve.ts'

const config = resolveConfig({ cwd: '/base', timeoutMs: 1_000, maxTimeoutMs: 5_000, maxOutputBytes: 100 })

describe('a bare request', () => {
  const spec = resolveRequest({ command: 'true' }, config)

  it('takes every default', () => {
    expect(spec).toMatchObject({ command: 'true', workdir: '/base', timeoutMs: 1_000, stdoutMaxBytes: 100 })
  })

  it('has the keys that must show when they were forgotten', () => {
    expect(Object.keys(spec)).toEqual(expect.arrayContaining(['owner', 'sandboxMode', 'sandboxPolicy']))
    expect([spec.owner, spec.sandboxMode, spec.sandboxPolicy]).toEqual([undefined, undefined, undefined])
  })
})

describe('a full request', () => {
  it('is carried through as it is', () => {
    const request = {
      command: 'x',
      signal: new AbortController().signal,
      stdin: 'in\0put',
      env: { A: '1' },
      dshEnv: { DSH_A: '1' },
      owner: ownerToken('me'),
      sandboxMode: 'read-only' as const,
      sandboxPolicy: { mode: 'read-only' as const, workspaceRoot: '/w', sessionId: 's' },
    }
    const spec = resolveRequest(request, config)
    for (const [name, value] of Object.entries(request)) expect(spec[name as keyof typeof spec]).toBe(value)
  })

  it.each([
    ['sub', '/base/sub'],
    ['../up', '/up'],
    ['/else', '/else'],
    ['', '/base'],
  ])('workdir %j is %s', (workdir, absolute) => {
    expect(resolveRequest({ command: 'x', workdir }, config).workdir).toBe(absolute)
  })

  it.each([
    [200, 200],
    [5_000, 5_000],
    [5_001, 5_000],
  ])('timeoutMs %d becomes %d', (timeoutMs, capped) => {
    expect(resolveRequest({ command: 'x', timeoutMs }, config).timeoutMs).toBe(capped)
  })

  it('caps the default timeout as well', () => {
    expect(resolveRequest({ command: 'x' }, { ...config, maxTimeoutMs: 10 }).timeoutMs).toBe(10)
  })
})

describe('what no command could run with', () => {
  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY])('a timeout or budget of %d', (value) => {
    for (const name of ['timeoutMs', 'stdoutMaxBytes']) {
      expect(() => resolveRequest({ command: 'x', [name]: value }, config)).toThrow(
        new TypeError(`${name} must be a positive finite number, not ${value}`),
      )
    }
  })

  it.each([
    [{ command: 'a\0b' }, 'command must not contain a NUL byte'],
    [{ command: 'x', workdir: '/a\0b' }, 'workdir must not contain a NUL byte'],
    [{ command: 'x', env: { A: '\0' } }, 'env.A must not contain a NUL byte'],
    [
      { command: 'x', env: { DSH_A: '' } },
      "env must not set DSH_A: DSH_* is the harness's own, pass it in dshEnv",
    ],
    [{ command: 1 }, 'command must be a string'],
    [{ command: 'x', stdin: 1 }, 'stdin must be a string'],
  ])('%j', (request, message) => {
    expect(() => resolveRequest(request as never, config)).toThrow(new TypeError(message))
  })
})
