import { describe, expect, it } from 'vitest'
import { exitStatus } from './exit-status.ts'

const ended = { exitCode: 0, signal: null, timedOut: false, aborted: false } as const

describe('the exit status', () => {
  it.each([0, 1, 2, 124, 125, 126, 127, 255])('%i passes through', (exitCode) => {
    expect(exitStatus({ ...ended, exitCode }, undefined)).toBe(exitCode)
  })

  it.each([
    ['SIGKILL', 137],
    ['SIGTERM', 143],
    ['SIGSEGV', 139],
  ] as const)('a death by %s is %i', (signal, status) => {
    expect(exitStatus({ ...ended, exitCode: null, signal }, undefined)).toBe(status)
  })

  it('is 124 after a timeout, even of a command that then exits 0', () => {
    expect(exitStatus({ ...ended, timedOut: true }, undefined)).toBe(124)
    expect(exitStatus({ ...ended, timedOut: true, exitCode: null, signal: 'SIGTERM' }, undefined)).toBe(124)
  })

  it.each([
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const)('tells of the %s that we were sent, however the command took it', (received, status) => {
    expect(exitStatus({ ...ended, aborted: true }, received)).toBe(status)
    expect(exitStatus({ ...ended, aborted: true, exitCode: null, signal: 'SIGKILL' }, received)).toBe(status)
  })

  it('is the command’s own when it ended before our signal could end it', () => {
    expect(exitStatus({ ...ended, exitCode: 3 }, 'SIGTERM')).toBe(3)
  })
})
