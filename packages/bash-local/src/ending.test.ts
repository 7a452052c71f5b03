import { readFileSync, readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { eventually, isRunning, numberIn, plain, scratchFolder, scratchRunner } from './testing/scratch.ts'

/** A folder that the command knows as `$DIR`, and the pid it writes to a file there. */
async function pidFolder() {
  const dir = await scratchFolder()
  return { env: { DIR: dir }, pid: (name: string) => numberIn(join(dir, name)) }
}

const timed = async <T>(work: Promise<T>) => {
  const start = performance.now()
  return { value: await work, ms: performance.now() - start }
}

describe('the ways of ending', () => {
  it.each([
    ['exit 0', 'exit 0', { exitCode: 0, signal: null }],
    ['exit 255', 'exit 255', { exitCode: 255, signal: null }],
    ['a signal of its own', 'kill -USR1 $$', { exitCode: null, signal: 'SIGUSR1' }],
    ['its own TERM', 'kill -TERM $$', { exitCode: null, signal: 'SIGTERM' }],
  ])('%s', async (_, command, facts) => {
    const runner = scratchRunner()
    expect(await runner.run(plain(runner, command))).toMatchObject({
      ...facts,
      timedOut: false,
      aborted: false,
    })
  })
})

/** Long enough, in milliseconds, for bash to have come to its first commands on a busy machine. */
const BASH_IS_UP_MS = 700

describe('a timeout', () => {
  it('ends the command and says so', async () => {
    const runner = scratchRunner()
    const ended = await runner.run(
      plain(runner, { command: 'echo before; sleep 60', timeoutMs: BASH_IS_UP_MS }),
    )
    expect(ended).toMatchObject({
      exitCode: null,
      signal: 'SIGTERM',
      timedOut: true,
      aborted: false,
      timeoutMs: BASH_IS_UP_MS,
    })
    expect(ended.stdout.text).toBe('before\n')
  })

  it('and a clean exit are both facts', async () => {
    const runner = scratchRunner()
    const command = 'trap "echo bye; exit 0" TERM; sleep 60 & wait'
    const ended = await runner.run(plain(runner, { command, timeoutMs: BASH_IS_UP_MS }))
    expect(ended).toMatchObject({ exitCode: 0, signal: null, timedOut: true, stdout: { text: 'bye\n' } })
  })

  it('becomes KILL after the grace', async () => {
    const runner = scratchRunner({ graceMs: 200 })
    const command = plain(runner, { command: 'trap "" TERM; echo $$; sleep 60', timeoutMs: BASH_IS_UP_MS })
    const { value, ms } = await timed(runner.run(command))
    expect(value.stdout.text).toMatch(/^\d+\n$/)
    expect(isRunning(Number(value.stdout.text))).toBe(false)
    expect(value).toMatchObject({ exitCode: null, signal: 'SIGKILL', timedOut: true })
    expect(ms).toBeGreaterThanOrEqual(BASH_IS_UP_MS + 200 - 1)
  })

  it('kills what ignores TERM although the leader has gone', async () => {
    const runner = scratchRunner({ graceMs: 300 })
    const { env, pid } = await pidFolder()
    const command = '(trap "" TERM; echo $BASHPID > $DIR/pid; exec sleep 60) & sleep 60'
    const running = runner.run(plain(runner, { command, env, timeoutMs: BASH_IS_UP_MS }))
    const stubborn = await pid('pid')
    expect(isRunning(stubborn)).toBe(true)
    const ended = await running
    expect(isRunning(stubborn)).toBe(false)
    expect(ended).toMatchObject({ signal: 'SIGTERM', timedOut: true })
  })

  it('ends children that left the session, after a leader that passed TERM on', async () => {
    const runner = scratchRunner()
    const { env, pid } = await pidFolder()
    const inner = `trap "echo inner; exit" TERM; echo $$ > $DIR/pid; sleep 60 & wait`
    const command = `trap "echo outer; exit 0" TERM; setsid bash -c '${inner}' & sleep 60 & wait`
    const controller = new AbortController()
    const running = runner.run(plain(runner, { command, env, signal: controller.signal }))
    const escaped = await pid('pid')
    expect(isRunning(escaped)).toBe(true)
    controller.abort()
    const ended = await running
    expect(isRunning(escaped)).toBe(false)
    expect(ended).toMatchObject({
      exitCode: 0,
      aborted: true,
      timedOut: false,
      stdout: { text: 'outer\ninner\n' },
    })
  })

  it('longer than a Node timer does not fire at once', async () => {
    const runner = scratchRunner({ maxTimeoutMs: 1e12 })
    const command = plain(runner, { command: 'sleep 0.1; echo done', timeoutMs: 1e12 })
    expect(await runner.run(command)).toMatchObject({
      timedOut: false,
      timeoutMs: 1e12,
      stdout: { text: 'done\n' },
    })
  })
})

describe('an abort', () => {
  it('ends the command and says so', async () => {
    const runner = scratchRunner()
    const { env, pid } = await pidFolder()
    const controller = new AbortController()
    const command = plain(runner, { command: 'echo $$ > $DIR/pid; sleep 60', env, signal: controller.signal })
    const running = runner.run(command)
    await pid('pid')
    controller.abort()
    expect(await running).toMatchObject({ signal: 'SIGTERM', aborted: true, timedOut: false })
  })

  it('in the turn of the spawn is not lost', async () => {
    const runner = scratchRunner()
    const controller = new AbortController()
    const running = runner.run(plain(runner, { command: 'sleep 60', signal: controller.signal }))
    controller.abort()
    expect(await running).toMatchObject({ aborted: true, timedOut: false })
  })

  it('after a timeout changes nothing', async () => {
    const runner = scratchRunner({ graceMs: 300 })
    const { env, pid } = await pidFolder()
    const controller = new AbortController()
    const command = 'trap "echo $$ > $DIR/told" TERM; sleep 60 & wait; sleep 60'
    const running = runner.run(
      plain(runner, { command, env, signal: controller.signal, timeoutMs: BASH_IS_UP_MS }),
    )
    await pid('told')
    controller.abort()
    expect(await running).toMatchObject({ timedOut: true, aborted: false })
  })

  it('after the end changes nothing', async () => {
    const runner = scratchRunner()
    const controller = new AbortController()
    const ended = await runner.run(plain(runner, { command: 'true', signal: controller.signal }))
    controller.abort()
    expect(ended).toMatchObject({ exitCode: 0, aborted: false })
  })
})

describe('what a finished command leaves behind', () => {
  it.each([
    ['a child that holds the pipe', 'sleep 60 & echo $! > $DIR/pid', 1],
    ['a child that holds no pipe', 'sleep 60 >/dev/null 2>&1 & echo $! > $DIR/pid', 0],
    ['a child that ignores HUP', 'nohup sleep 60 >/dev/null 2>&1 & echo $! > $DIR/pid', 0],
    ['a job in a group of its own', 'set -m; sleep 60 >/dev/null 2>&1 & echo $! > $DIR/pid', 0],
    ['a child that ignores TERM', '(trap "" TERM; exec sleep 60) >/dev/null 2>&1 & echo $! > $DIR/pid', 0],
  ])('%s is ended', async (_, command, graces) => {
    const graceMs = 400
    const runner = scratchRunner({ graceMs })
    const { env, pid } = await pidFolder()
    const { value, ms } = await timed(runner.run(plain(runner, { command: `${command}; echo out`, env })))
    expect(isRunning(await pid('pid'))).toBe(false)
    expect(value).toMatchObject({ exitCode: 0, signal: null, timedOut: false, stdout: { text: 'out\n' } })
    expect(ms).toBeGreaterThanOrEqual(graces * graceMs - 1)
  })

  it('is let finish what it still prints', async () => {
    const runner = scratchRunner()
    const ended = await runner.run(
      plain(runner, 'exec > >(read -r line; sleep 0.2; echo "late $line"); echo out'),
    )
    expect(ended.stdout.text).toBe('late out\n')
  })

  it('holds a pipe no longer than the timeout', async () => {
    const runner = scratchRunner({ graceMs: 20_000 })
    const { value, ms } = await timed(runner.run(plain(runner, { command: 'sleep 60 &', timeoutMs: 300 })))
    expect(value).toMatchObject({ exitCode: 0, timedOut: false })
    expect(ms).toBeLessThan(10_000)
  })

  it('and that has left the session cannot hold the call', async () => {
    const spillParent = await scratchFolder()
    const runner = scratchRunner({ graceMs: 300, maxOutputBytes: 10, spillParent })
    const { env, pid } = await pidFolder()
    const escape = `setsid bash -c 'echo $$ > $DIR/pid; while echo y; do sleep 0.01; done' & `
    const ended = await runner.run(
      plain(runner, { command: `${escape} until [ -s $DIR/pid ]; do :; done; seq 9`, env }),
    )
    expect(ended).toMatchObject({ exitCode: 0, timedOut: false, stdout: { truncated: true } })
    expect(ended.stdout).not.toHaveProperty('spillPath')
    // Its pipe is gone, so its next line ends it.
    const escaped = await pid('pid')
    await eventually('the writer ended', () => !isRunning(escaped))
  })
})

describe('disposal', () => {
  it('ends what runs, waits for it, and refuses what comes later', async () => {
    const runner = scratchRunner({ graceMs: 300 })
    const { env, pid } = await pidFolder()
    const stubborn = 'trap "" TERM; echo $$ > $DIR/$NAME; sleep 60'
    const command = (NAME: string) => plain(runner, { command: stubborn, env: { ...env, NAME } })
    const foreground = runner.run(command('fg'))
    const background = runner.start(command('bg'))
    const pids = [await pid('fg'), await pid('bg')]
    await Promise.all([runner.dispose(), runner.dispose()])
    expect(pids.map(isRunning)).toEqual([false, false])
    expect(await foreground).toMatchObject({ signal: 'SIGKILL', timedOut: false, aborted: false })
    expect(background).toMatchObject({ status: 'killed', signal: 'SIGKILL' })
    const refusal = 'bash-local: this runner has been disposed of; nothing was run'
    await expect(runner.run(command('late'))).rejects.toThrow(refusal)
    await expect(runner.pass(command('late'))).rejects.toThrow(refusal)
    expect(() => runner.start(command('late'))).toThrow(refusal)
  })
})

describe('the end of this process', () => {
  it('is watched by one listener for all runners', async () => {
    const runners = [scratchRunner(), scratchRunner(), scratchRunner()]
    await Promise.all(runners.map((runner) => runner.run(plain(runner, 'true'))))
    const before = process.listenerCount('exit')
    await Promise.all(runners.map((runner) => runner.run(plain(runner, 'true'))))
    expect(process.listenerCount('exit')).toBe(before)
  })

  it('kills what still runs', async () => {
    const runner = scratchRunner()
    const { env, pid } = await pidFolder()
    const running = runner.run(plain(runner, { command: 'trap "" TERM; echo $$ > $DIR/pid; sleep 60', env }))
    const survivor = await pid('pid')
    const ours = process.listeners('exit').find((listener) => listener.name === 'killAll')
    ours?.(0)
    expect(await running).toMatchObject({ signal: 'SIGKILL', timedOut: false, aborted: false })
    expect(isRunning(survivor)).toBe(false)
  })
})

describe('passing a command through', () => {
  it('knows every way of ending that run knows', async () => {
    const runner = scratchRunner()
    const { env, pid } = await pidFolder()
    const mark = { command: 'readlink /proc/$$/fd/1 > $DIR/out; echo ready >&3; exit 3', env }
    expect(await runner.pass({ ...plain(runner, mark), statusFd: 3 })).toEqual({
      exitCode: 3,
      signal: null,
      timedOut: false,
      killed: false,
      aborted: false,
      timeoutMs: 120_000,
      statusText: 'ready\n',
    })
    expect(readFileSync(join(env.DIR, 'out'), 'utf8')).toBe(readlinkOf(1))
    const slow = plain(runner, {
      command: 'sleep 60 & echo $! > $DIR/pid; wait',
      env,
      timeoutMs: BASH_IS_UP_MS,
    })
    expect(await runner.pass(slow)).toMatchObject({
      signal: 'SIGTERM',
      timedOut: true,
      statusText: undefined,
    })
    expect(isRunning(await pid('pid'))).toBe(false)
  })
})

function readlinkOf(fd: number): string {
  return `${readlinkSync(`/proc/self/fd/${fd}`)}\n`
}
