import { Readable } from 'node:stream'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  createStatusChannel,
  MAX_STATUS_BYTES,
  reportedExit,
  reportedLeftover,
  saysReady,
} from './status-channel.ts'
import { STATUS_FD } from './command.ts'
import { isRunning, eventually, numberIn, plain, scratchFolder, scratchRunner } from './testing/scratch.ts'

describe('what a runner tells', () => {
  it.each([
    ['ready\nexited 0\n', true, { exitCode: 0, signal: null }],
    ['ready\nexited 255\n', true, { exitCode: 255, signal: null }],
    ['ready\nsignaled 15\n', true, { exitCode: null, signal: 'SIGTERM' }],
    ['ready\nsignaled 11\n', true, { exitCode: null, signal: 'SIGSEGV' }],
    ['ready\nsignaled 40\n', true, { exitCode: 168, signal: null }],
    ['failed pin 116 /x\nexited 125\n', false, { exitCode: 125, signal: null }],
    ['ready\n', true, undefined],
    ['already exited 0\n', false, undefined],
    ['', false, undefined],
  ])('%j', (text, ready, exit) => {
    expect(saysReady(text)).toBe(ready)
    expect(reportedExit(text)).toEqual(exit)
  })

  it.each([
    ['ready\nexited 0\n', 0],
    ['ready\nleft 1\nexited 0\n', 1],
    ['ready\nleft 12\nsignaled 15\n', 12],
    ['ready\nleft 2\n', undefined],
    ['ready\n', undefined],
    ['', undefined],
    ['ready\nleft 0\nexited 0\n', 0],
    ['ready\nleft -1\nexited 0\n', 0],
    ['ready\nleft 1 more\nexited 0\n', 0],
    ['ready\nexited 0\nleft 1\n', 0],
  ])('%j: left over %j', (text, leftover) => {
    expect(reportedLeftover(text)).toBe(leftover)
  })

  it('is kept up to its bound and no further', async () => {
    const channel = createStatusChannel()
    await channel.consume(Readable.from([Buffer.from('ready\n'), Buffer.alloc(MAX_STATUS_BYTES, 'x')]))
    expect(channel.text().length).toBe(MAX_STATUS_BYTES)
    expect(channel.text().startsWith('ready\nxx')).toBe(true)
  })
})

/** A runner in bash: it does what `script` says, with the status descriptor as its third. */
const bashRunner = (script: string) => ({ command: script })

describe('a command behind a runner', () => {
  it('ended as the runner reports, not as the runner ended', async () => {
    const runner = scratchRunner()
    const command = plain(runner, bashRunner('echo ready >&3; echo signaled 11 >&3; exit 139'))
    const ended = await runner.run({ ...command, statusFd: STATUS_FD })
    expect(ended).toMatchObject({ exitCode: null, signal: 'SIGSEGV', statusText: 'ready\nsignaled 11\n' })
  })

  it('is not believed about its end without the descriptor', async () => {
    const runner = scratchRunner()
    const ended = await runner.run(plain(runner, bashRunner('echo signaled 11; exit 7')))
    expect(ended).toMatchObject({ exitCode: 7, signal: null, statusText: undefined })
  })

  it('gets KILL at once while the runner has not handed over, since TERM could be lost in it', async () => {
    // Waiting for the grace would outlast the test.
    const runner = scratchRunner({ graceMs: 120_000 })
    const pidFile = join(await scratchFolder(), 'pid')
    const script = `trap '' TERM; echo $$ > '${pidFile}'; while :; do sleep 0.02; done`
    const background = runner.start({ ...plain(runner, bashRunner(script)), statusFd: STATUS_FD })
    const pid = await numberIn(pidFile)
    background.kill()
    await background.done
    expect(background.signal).toBe('SIGKILL')
    await eventually('the runner gone', () => !isRunning(pid))
  })

  it('is killed by disposal too, however its runner then ends', async () => {
    const runner = scratchRunner({ graceMs: 120_000 })
    const pidFile = join(await scratchFolder(), 'pid')
    // Were TERM sent first, it would end with a status, as bubblewrap does when its own child is hit.
    const script = `trap 'exit 143' TERM; echo $$ > '${pidFile}'; while :; do sleep 0.02; done`
    const background = runner.start({ ...plain(runner, bashRunner(script)), statusFd: STATUS_FD })
    await numberIn(pidFile)
    await runner.dispose()
    expect(background).toMatchObject({ status: 'killed', exitCode: null, signal: 'SIGKILL' })
  })

  it('is killed by disposal when it then ends by itself, without a status descriptor', async () => {
    const runner = scratchRunner()
    const pidFile = join(await scratchFolder(), 'pid')
    const script = `trap 'exit 0' TERM; echo $$ > '${pidFile}'; while :; do sleep 0.02; done`
    const background = runner.start(plain(runner, script))
    await numberIn(pidFile)
    await runner.dispose()
    expect(background).toMatchObject({ status: 'killed', exitCode: 0, signal: null })
  })

  it('gets TERM and its grace once the runner has', async () => {
    const runner = scratchRunner({ graceMs: 20_000 })
    const pidFile = join(await scratchFolder(), 'pid')
    const script = `trap 'echo exited 4 >&3; exit 4' TERM; echo ready >&3; echo $$ > '${pidFile}'; while :; do sleep 0.02; done`
    const background = runner.start({ ...plain(runner, bashRunner(script)), statusFd: STATUS_FD })
    await numberIn(pidFile)
    background.kill()
    await background.done
    expect(background).toMatchObject({ exitCode: 4, signal: null, status: 'killed' })
  })
})
