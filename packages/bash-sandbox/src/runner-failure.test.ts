import { describe, expect, it } from 'vitest'
import type { EndedCommand } from 'dsh-bash-local'
import type { ConfinedArgv, RunnerFailureRule } from 'dsh-sandbox'
import { runnerFailure, runnerSpawnFailure } from './runner-failure.ts'
import { verdict } from './verdict.ts'

const RUNNER = '/opt/runner'

interface End {
  readonly exitCode?: number | null
  readonly signal?: NodeJS.Signals | null
  readonly stdout?: string
  readonly stderr?: string
  readonly statusText?: string
  readonly timedOut?: boolean
  readonly aborted?: boolean
  readonly killed?: boolean
}

function ended(end: End): EndedCommand {
  const {
    exitCode = 1,
    signal = null,
    stdout = '',
    stderr = '',
    statusText,
    timedOut = false,
    aborted = false,
    killed = false,
  } = end
  return {
    exitCode,
    signal,
    timedOut,
    aborted,
    killed,
    timeoutMs: 1000,
    statusText,
    leftover: undefined,
    stdout: { text: stdout, truncated: false },
    stderr: { text: stderr, truncated: false },
  }
}

function confined(rules: readonly RunnerFailureRule[], statusFd?: number): ConfinedArgv {
  return {
    argv: [RUNNER, '--', 'bash'],
    enforcement: 'full',
    denialSignatures: ['permission denied'],
    runnerFailureRules: rules,
    ...(statusFd === undefined ? {} : { statusFd }),
  }
}

const byStatus = (end: End) => runnerFailure(ended(end), confined([], 3))
const byWords = (rule: RunnerFailureRule, end: End) => runnerFailure(ended(end), confined([rule]))

describe('with a status descriptor', () => {
  it('after `ready` nothing is a runner failure, whatever is printed', () => {
    for (const exitCode of [0, 1, 2, 125, 126, 127]) {
      expect(
        byStatus({ exitCode, statusText: 'ready\n', stderr: 'landlock-run: exec x: no\nbwrap: no' }),
      ).toBeUndefined()
    }
    expect(byStatus({ statusText: 'ready\nexited 1\n', exitCode: 1 })).toBeUndefined()
    expect(byStatus({ statusText: 'ready\nfailed pin 116 /ws\n', exitCode: 125 })).toBeUndefined()
  })

  it('without it the command never ran, and the first line says why', () => {
    expect(byStatus({ exitCode: 1, statusText: '', stderr: '\nbwrap: No permissions\nmore' })).toBe(
      'bwrap: No permissions',
    )
    expect(byStatus({ exitCode: 125, statusText: 'failed pin 116 /ws\n' })).toBe('failed pin 116 /ws')
    expect(byStatus({ exitCode: 0 })).toBe('the runner ended with status 0 before the command started')
    expect(byStatus({ exitCode: 7, statusText: 'not ready\n' })).toBe(
      'the runner ended with status 7 before the command started',
    )
    expect(byStatus({ exitCode: 7, statusText: 'already\n' })).toBeDefined()
  })

  it('a program that is missing or not executable is no runner failure', () => {
    expect(byStatus({ exitCode: 127, statusText: 'failed exec 2 nope\n' })).toBeUndefined()
    expect(byStatus({ exitCode: 126, statusText: 'failed exec 13 nope\n' })).toBeUndefined()
  })

  it('what we ended ourselves, or a signal did, proves nothing', () => {
    expect(byStatus({ timedOut: true, statusText: '' })).toBeUndefined()
    expect(byStatus({ aborted: true, statusText: '' })).toBeUndefined()
    expect(byStatus({ killed: true, exitCode: 143, statusText: '' })).toBeUndefined()
    expect(byStatus({ exitCode: null, signal: 'SIGKILL', statusText: '' })).toBeUndefined()
  })
})

describe('by words', () => {
  const plain: RunnerFailureRule = { fatalSignatures: ['runner: '] }

  it('need a failed exit and the words on some line', () => {
    expect(byWords(plain, { stderr: 'noise\nrunner: broken\r\nmore' })).toBe('runner: broken')
    expect(byWords(plain, { stderr: 'noise' })).toBeUndefined()
    expect(byWords(plain, { exitCode: 0, stderr: 'runner: broken' })).toBeUndefined()
    expect(byWords(plain, { exitCode: null, signal: 'SIGTERM', stderr: 'runner: broken' })).toBeUndefined()
    expect(byWords(plain, { timedOut: true, stderr: 'runner: broken' })).toBeUndefined()
  })

  it('compare without case', () => {
    expect(byWords({ fatalSignatures: ['Runner: '] }, { stderr: 'RUNNER: broken' })).toBe('RUNNER: broken')
  })

  it('never match by a blank signature', () => {
    expect(byWords({ fatalSignatures: ['', '  ', '\t'] }, { stderr: 'any  thing' })).toBeUndefined()
  })

  it('pass an exit gate', () => {
    const gated: RunnerFailureRule = { ...plain, allowedExitCodes: [125] }
    expect(byWords(gated, { exitCode: 125, stderr: 'runner: broken' })).toBe('runner: broken')
    for (const exitCode of [1, 2, 126])
      expect(byWords(gated, { exitCode, stderr: 'runner: broken' })).toBeUndefined()
    expect(byWords({ ...plain, allowedExitCodes: [] }, { stderr: 'runner: broken' })).toBeUndefined()
  })

  it('set informational lines aside, whole ones only', () => {
    const rule: RunnerFailureRule = { ...plain, informationalLines: ['runner: Partial enforcement'] }
    expect(byWords(rule, { stderr: 'RUNNER: partial enforcement\r\n' })).toBeUndefined()
    expect(byWords(rule, { stderr: 'runner: partial enforcement, and more' })).toBe(
      'runner: partial enforcement, and more',
    )
    expect(byWords(rule, { stderr: 'runner: partial enforcement\nrunner: broken' })).toBe('runner: broken')
  })

  it('as sole output, are first on stderr with nothing on stdout', () => {
    const sole: RunnerFailureRule = { ...plain, soleOutput: true, informationalLines: ['runner: hello'] }
    expect(byWords(sole, { stderr: '\nrunner: hello\nrunner: broken\nmore' })).toBe('runner: broken')
    expect(byWords(sole, { stderr: 'the command spoke\nrunner: broken' })).toBeUndefined()
    expect(byWords(sole, { stdout: 'x', stderr: 'runner: broken' })).toBeUndefined()
  })

  it('the first rule that matches speaks', () => {
    const rules: readonly RunnerFailureRule[] = [{ fatalSignatures: ['b: '] }, { fatalSignatures: ['a: '] }]
    expect(runnerFailure(ended({ stderr: 'a: one\nb: two' }), confined(rules))).toBe('b: two')
    expect(runnerFailure(ended({ stderr: 'a: one' }), confined([]))).toBeUndefined()
  })
})

describe('a spawn that failed', () => {
  const errno = (code: string, path?: string) =>
    Object.assign(new Error(`spawn ${path} ${code}`), { code, path })

  it("is the runner's when it names the runner", () => {
    expect(runnerSpawnFailure(errno('ENOENT', RUNNER), confined([]))).toBe(`spawn ${RUNNER} ENOENT`)
    expect(runnerSpawnFailure(errno('EACCES', RUNNER), confined([]))).toBe(`spawn ${RUNNER} EACCES`)
  })

  it("and is nobody's else", () => {
    expect(runnerSpawnFailure(errno('ENOENT', 'bash'), confined([]))).toBeUndefined()
    expect(runnerSpawnFailure(errno('ENOENT'), confined([]))).toBeUndefined()
    for (const code of ['ENOEXEC', 'E2BIG', 'EMFILE', 'EAGAIN', 'ENOMEM', 'ENOTDIR']) {
      expect(runnerSpawnFailure(errno(code, RUNNER), confined([]))).toBeUndefined()
    }
    expect(runnerSpawnFailure(undefined, confined([]))).toBeUndefined()
  })
})

it('a runner failure outranks a denial', () => {
  const facts = {
    workdir: '/ws',
    confined: confined([{ fatalSignatures: ['runner: '] }]),
    couldWrite: () => true,
    physicalPath: (path: string) => path,
  }
  const stderr = 'bash: line 1: /x: Permission denied\nrunner: broken'
  expect(verdict(ended({ stderr }), 'read-only', facts)).toEqual({
    runnerFailed: true,
    detail: 'runner: broken',
    info: { mode: 'read-only', enforcement: 'full', denied: false, runnerFailed: true },
  })
  expect(verdict(ended({ stderr: 'bash: line 1: /x: Permission denied' }), 'read-only', facts)).toEqual({
    runnerFailed: false,
    info: {
      mode: 'read-only',
      enforcement: 'full',
      denied: true,
      denial: { path: '/x', source: 'stderr', confidence: 'high' },
    },
  })
})
