/** Opening a standard stream anew by name: allowed where it is open for writing anyway, and nothing beside it. */

import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, readSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { useBench } from '../test/bench.ts'
import { skipWithout } from '../test/needs.ts'

const bench = useBench()
const at = (name: string) => join(bench.outside, name)
const OPEN_TO_ALL: readonly string[] = []
const confined = () => [bench.launcher, '--ro', '/', '--']

/** Runs `script` behind `front` with `name` as its stdin or stdout, opened as `flags` say. */
function withStream(
  stream: 'stdin' | 'stdout',
  name: string,
  flags: string,
  front: readonly string[],
  script: string,
) {
  const fd = openSync(at(name), flags)
  const [program = '', ...args] = [...front, 'bash', '-c', script]
  const { status, stderr } = spawnSync(program, args, {
    stdio: [stream === 'stdin' ? fd : 'ignore', stream === 'stdout' ? fd : 'ignore', 'pipe'],
  })
  closeSync(fd)
  return { status, words: stderr.toString() }
}

it('a file that is open for writing', () => {
  expect(withStream('stdout', 'out', 'w', confined(), 'echo x > /dev/stdout').status).toBe(0)
  expect(readFileSync(at('out'), 'utf8')).toBe('x\n')
})

it('but not the file beside it', () => {
  writeFileSync(at('other'), 'kept')
  const { status, words } = withStream('stdout', 'out', 'w', confined(), `echo x > '${at('other')}'`)
  expect(readFileSync(at('other'), 'utf8')).toBe('kept')
  expect([status, words]).toEqual([1, `bash: line 1: ${at('other')}: Permission denied\n`])
})

it('and not a file that is open for reading alone', () => {
  writeFileSync(at('in'), 'kept')
  expect(withStream('stdin', 'in', 'r', OPEN_TO_ALL, 'echo lost > /dev/stdin').status).toBe(0)
  expect(readFileSync(at('in'), 'utf8')).toBe('lost\n')
  writeFileSync(at('in'), 'kept')
  expect(withStream('stdin', 'in', 'r', confined(), 'echo lost > /dev/stdin').status).toBe(1)
  expect(readFileSync(at('in'), 'utf8')).toBe('kept')
})

it('a terminal', () => {
  const command = `${bench.launcher} --ro / -- bash -c 'echo x | tee /dev/stderr'`
  const { status, stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { encoding: 'utf8' })
  expect([status, stdout]).toEqual([0, 'x\r\nx\r\n'])
})

it('but not a file that is only appended to: what is in it stays', () => {
  writeFileSync(at('log'), 'kept\n')
  expect(withStream('stdout', 'log', 'a', OPEN_TO_ALL, 'echo lost > /proc/self/fd/1').status).toBe(0)
  expect(readFileSync(at('log'), 'utf8')).toBe('lost\n')
  writeFileSync(at('log'), 'kept\n')
  expect(withStream('stdout', 'log', 'a', confined(), 'echo lost > /proc/self/fd/1').status).toBe(1)
  expect(withStream('stdout', 'log', 'a', confined(), 'echo more').status).toBe(0)
  expect(readFileSync(at('log'), 'utf8')).toBe('kept\nmore\n')
})

describe('a door', () => {
  const stdin = (path: string, front: readonly string[], script: string, flags: string | number = 'r') => {
    const fd = openSync(path, flags)
    const [program = '', ...args] = [...front, 'bash', '-c', script]
    const { status, stderr } = spawnSync(program, args, { stdio: [fd, 'ignore', 'pipe'] })
    closeSync(fd)
    return [status, stderr.toString()]
  }

  it('is a directory as a stream, which no launcher passes on', () => {
    const through = 'echo x > /proc/self/fd/0/through'
    expect(stdin(bench.outside, OPEN_TO_ALL, through)).toEqual([0, ''])
    expect(readFileSync(at('through'), 'utf8')).toBe('x\n')
    const refusal = 'landlock-run: streams /proc/self/fd/0: Is a directory\n'
    for (const option of ['--passive', '--no-landlock', '--supervise']) {
      expect(stdin(bench.outside, [bench.launcher, option, '--'], through)).toEqual([125, refusal])
    }
  })

  it('is a file that was opened in a writable mount: without Landlock it is opened anew in this one', ({
    skip,
  }) => {
    skipWithout(skip, 'bwrap')
    const readOnlyMounts = ['bwrap', '--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--']
    const script = 'read -r first; echo "got $first" >&2; echo lost > /proc/self/fd/0'
    writeFileSync(at('in'), 'kept\n')
    expect(stdin(at('in'), readOnlyMounts, script)).toEqual([0, 'got kept\n'])
    expect(readFileSync(at('in'), 'utf8')).toBe('lost\n')
    writeFileSync(at('in'), 'kept\n')
    const [status, words] = stdin(
      at('in'),
      [...readOnlyMounts, bench.launcher, '--no-landlock', '--'],
      script,
    )
    expect(readFileSync(at('in'), 'utf8')).toBe('kept\n')
    expect([status, words]).toEqual([1, 'got kept\nbash: line 1: /proc/self/fd/0: Read-only file system\n'])
  })

  it('is a place, which is not open for anything (O_PATH)', () => {
    const O_PATH = 0o10000000
    for (const option of ['--passive', '--no-landlock', '--supervise']) {
      expect(stdin(bench.outside, [bench.launcher, option, '--'], 'true', O_PATH)).toEqual([
        125,
        'landlock-run: streams /proc/self/fd/0: Bad file descriptor\n',
      ])
    }
  })

  it('is no file that was opened anew: it goes on where it was', () => {
    writeFileSync(at('in'), 'one\ntwo\n')
    const fd = openSync(at('in'), 'r')
    readSync(fd, Buffer.alloc(4))
    const { stdout } = spawnSync(bench.launcher, ['--no-landlock', '--', 'cat'], {
      stdio: [fd, 'pipe', 'ignore'],
    })
    closeSync(fd)
    expect(stdout.toString()).toBe('two\n')
  })

  it('is refused where another file has its name inside', ({ skip }) => {
    skipWithout(skip, 'bwrap')
    writeFileSync(at('in'), 'kept\n')
    writeFileSync(at('other'), 'kept\n')
    const swapped = [
      'bwrap',
      '--ro-bind',
      '/',
      '/',
      '--proc',
      '/proc',
      '--ro-bind',
      at('other'),
      at('in'),
      '--',
    ]
    expect(stdin(at('in'), [...swapped, bench.launcher, '--no-landlock', '--'], 'true')).toEqual([
      125,
      'landlock-run: streams /proc/self/fd/0: Stale file handle\n',
    ])
  })

  it('is refused where the file has no name inside', ({ skip }) => {
    skipWithout(skip, 'bwrap')
    const hidden = [
      'bwrap',
      '--ro-bind',
      '/',
      '/',
      '--dev',
      '/dev',
      '--proc',
      '/proc',
      '--tmpfs',
      bench.outside,
      '--',
    ]
    writeFileSync(at('in'), 'kept\n')
    expect(stdin(at('in'), [...hidden, bench.launcher, '--no-landlock', '--'], 'true')).toEqual([
      125,
      'landlock-run: streams /proc/self/fd/0: No such file or directory\n',
    ])
  })
})
