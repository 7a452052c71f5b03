/** Opening a standard stream anew by name: allowed where it is open for writing anyway, and nothing beside it. */

import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { useBench } from '../test/bench.ts'

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
