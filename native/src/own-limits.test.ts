/** `--own-limits`, and a supervisor whose limits were taken away. */

import { readFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { IDENTITIES, run, useBench } from '../test/bench.ts'
import { marked, remains, until } from '../test/processes.ts'

const bench = useBench()

const openFiles = (pid: number) =>
  /^Max open files\s+(\S+)/m.exec(readFileSync(`/proc/${pid}/limits`, 'latin1'))?.[1]

describe.each(IDENTITIES)('as $name', (identity) => {
  const confined = (...options: readonly string[]) => [bench.launcher, '--ro', '/', ...options, '--']

  /** The victim's limit after a command has tried to change it. */
  async function limitAfter(front: readonly string[]) {
    const [program = '', ...args] = [...identity.prefix, 'sleep', '60']
    const victim = spawn(program, args, { stdio: 'ignore', cwd: '/' })
    try {
      await once(victim, 'spawn')
      const pid = victim.pid ?? 0
      await until(
        'the victim is what it is to be',
        () => readFileSync(`/proc/${pid}/comm`, 'latin1') === 'sleep\n',
      )
      const { status } = run([...front, 'prlimit', `--pid=${pid}`, '--nofile=7:7'], { identity })
      return { status, limit: openFiles(pid) }
    } finally {
      victim.kill('SIGKILL')
      await once(victim, 'exit')
    }
  }

  it("another process's limits cannot be set", async () => {
    expect(await limitAfter([])).toEqual({ status: 0, limit: '7' })
    expect(await limitAfter(confined())).toEqual({ status: 0, limit: '7' })
    const { status, limit } = await limitAfter(confined('--own-limits'))
    expect(status).toBe(1)
    expect(Number(limit)).toBeGreaterThan(7)
  })

  it('they can be read, and its own can be set', () => {
    // The parent that the inner shell asks about is the outer one.
    const script = `ulimit -n 9; ulimit -n; soft=$(bash -c 'prlimit --pid $PPID --nofile --output=SOFT; :') && echo read`
    expect(run([...confined('--own-limits'), 'bash', '-c', script], { identity }).stdout).toBe('9\nread\n')
  })

  it('a supervisor without a descriptor to spare still leaves nobody behind', async () => {
    const marker = `86${process.pid}${identity.uid}`
    const starve = 'for up in $PPID $(ps -o ppid= -p $PPID); do prlimit --pid $up --nofile=0:0; done'
    const script = `${starve}; setsid sleep ${marker} >/dev/null 2>&1 & until pgrep -f "^sleep ${marker}" >/dev/null; do :; done; exit 3`
    const front = [bench.launcher, '--supervise', '--guard', '--ro', '/', '--dev', '/dev/null', '--']
    expect(run([...front, 'bash', '-c', script], { identity }).status).toBe(3)
    await until('the daemon is gone', () => !marked(marker).some(remains))
  })
})

it('nothing runs where filters are barred', () => {
  const seccomp = process.arch === 'arm64' ? 277 : 317
  // The simulator has to install its own filter first, and forbids it to what comes after.
  const front = [
    bench.faultRun,
    '--no-syscall',
    `${seccomp}=22`,
    '--',
    bench.launcher,
    '--ro',
    '/',
    '--own-limits',
    '--',
  ]
  const { status, stdout, stderr } = run([...front, 'echo', 'ran'])
  expect(stdout).toBe('')
  expect([status, stderr]).toEqual([125, 'landlock-run: seccomp: Invalid argument\n'])
})
