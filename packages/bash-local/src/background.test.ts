import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { BashProcess, BashProcessRead } from 'dsh-bash'
import type { EndedCommand } from './command.ts'
import { eventually, isRunning, numberIn, plain, scratchFolder, scratchRunner } from './testing/scratch.ts'

/** Reads until all of `text` has come, and gives the reads. */
async function readsOf(process: BashProcess, text: string): Promise<BashProcessRead[]> {
  const reads: BashProcessRead[] = []
  await eventually(JSON.stringify(text), () => {
    reads.push(process.readOutput())
    return reads.map((read) => read.delta).join('') === text
  })
  return reads
}

describe('a background process', () => {
  it('starts at once, has no timeout, and settles once', async () => {
    const runner = scratchRunner({ timeoutMs: 1 })
    const process = runner.start(plain(runner, 'sleep 0.2; echo out; exit 3'))
    expect(process).toMatchObject({ status: 'running', exitCode: null, signal: null })
    await process.done
    expect(process).toMatchObject({ status: 'completed', exitCode: 3, signal: null })
    expect(process.readOutput()).toEqual({ delta: 'out\n', lossy: false })
    expect(process.readOutput()).toEqual({ delta: '', lossy: false })
    expect(process.kill()).toBe(false)
  })

  it('is read as it goes, stdout before stderr', async () => {
    const dir = await scratchFolder()
    const runner = scratchRunner()
    const command = `printf 'one\\n'; until [ -e ${dir}/go ]; do sleep 0.01; done; printf two; printf three >&2`
    const process = runner.start(plain(runner, command))
    await readsOf(process, 'one\n')
    await runner.run(plain(runner, `touch ${dir}/go`))
    await process.done
    expect(process.readOutput()).toEqual({ delta: 'two\n[stderr]\nthree', lossy: false })
  })

  it.each([
    ['printf "a\\n"; echo b >&2', 'a\n[stderr]\nb\n'],
    ['printf a; echo b >&2', 'a\n[stderr]\nb\n'],
    ['echo b >&2', '[stderr]\nb\n'],
    ['printf a', 'a'],
  ])('%s reads as %j', async (command, delta) => {
    const runner = scratchRunner()
    const process = runner.start(plain(runner, command))
    await process.done
    expect(process.readOutput().delta).toBe(delta)
  })

  it('never parts a character that comes in two writes', async () => {
    const dir = await scratchFolder()
    const runner = scratchRunner()
    const halves = `printf 'a\\xe2\\x82'; until [ -e ${dir}/go ]; do sleep 0.01; done; printf '\\xacb'`
    const process = runner.start(plain(runner, halves))
    await readsOf(process, 'a')
    await runner.run(plain(runner, `touch ${dir}/go`))
    await process.done
    expect(process.readOutput().delta).toBe('€b')
  })

  it('says what was lost, and where all of it is', async () => {
    const runner = scratchRunner({ maxOutputBytes: 10, spillParent: await scratchFolder() })
    const process = runner.start(plain(runner, 'printf 0123456789abcdef; printf 0123456789abcdef >&2'))
    await process.done
    const { delta, lossy, stdoutSpillPath = '', stderrSpillPath = '' } = process.readOutput()
    expect({ delta, lossy }).toEqual({ delta: '6789abcdef\n[stderr]\n6789abcdef', lossy: true })
    expect(readFileSync(stdoutSpillPath, 'utf8')).toBe('0123456789abcdef')
    expect(readFileSync(stderrSpillPath, 'utf8')).toBe('0123456789abcdef')
    expect(process.readOutput()).toMatchObject({ delta: '', lossy: false, stdoutSpillPath })
  })

  it('names a spill while it still runs, complete so far', async () => {
    const runner = scratchRunner({ maxOutputBytes: 10, spillParent: await scratchFolder() })
    const process = runner.start(plain(runner, 'printf 0123456789abcdef; sleep 60'))
    const path = await eventually('a spill path', () => process.readOutput().stdoutSpillPath)
    expect(readFileSync(path, 'utf8')).toBe('0123456789abcdef')
    expect(process.status).toBe('running')
  })
})

describe('kill', () => {
  it('ends the group, may be repeated, and is refused after the end', async () => {
    const runner = scratchRunner()
    const dir = await scratchFolder()
    const process = runner.start(plain(runner, `sleep 60 & echo $! > ${dir}/pid; wait`))
    const child = await numberIn(join(dir, 'pid'))
    expect(isRunning(child)).toBe(true)
    expect([process.kill(), process.kill()]).toEqual([true, true])
    await process.done
    expect(isRunning(child)).toBe(false)
    expect(process).toMatchObject({ status: 'killed', exitCode: null, signal: 'SIGTERM' })
    expect(process.kill()).toBe(false)
    expect(process.status).toBe('killed')
  })

  it('in the turn of the start is not lost', async () => {
    const runner = scratchRunner()
    const process = runner.start(plain(runner, 'sleep 60'))
    expect(process.kill()).toBe(true)
    await process.done
    expect(process.status).toBe('killed')
  })

  it('of one that traps TERM keeps its exit code', async () => {
    const runner = scratchRunner()
    const process = runner.start(plain(runner, 'trap "exit 5" TERM; echo ready; sleep 60 & wait'))
    await readsOf(process, 'ready\n')
    process.kill()
    await process.done
    expect(process).toMatchObject({ status: 'killed', exitCode: 5, signal: null })
  })

  it('ends what a finished leader has left, without waiting for its pipes', async () => {
    const runner = scratchRunner({ graceMs: 20_000 })
    const dir = await scratchFolder()
    const process = runner.start(plain(runner, `echo $$ > ${dir}/leader; sleep 60 & echo $! > ${dir}/pid`))
    const [leader, child] = [await numberIn(join(dir, 'leader')), await numberIn(join(dir, 'pid'))]
    await eventually('the leader gone', () => !isRunning(leader))
    expect([process.status, isRunning(child)]).toEqual(['running', true])
    expect(process.kill()).toBe(true)
    await process.done
    expect(isRunning(child)).toBe(false)
    expect(process).toMatchObject({ status: 'killed', exitCode: 0, signal: null })
  })

  it.each([
    ['the signal of the caller', 'sleep 60', 'SIGTERM'],
    ['a signal of its own', 'kill -USR1 $$', 'SIGUSR1'],
  ])('%s counts as well', async (_, command, signal) => {
    const runner = scratchRunner()
    const controller = new AbortController()
    const process = runner.start(plain(runner, { command, signal: controller.signal }))
    if (signal === 'SIGTERM') controller.abort()
    await process.done
    expect(process).toMatchObject({ status: 'killed', exitCode: null, signal })
  })
})

describe('a start that fails', () => {
  it.each([
    [{ argv: ['/nonexistent'] }, 'spawn failed: spawn /nonexistent ENOENT'],
    [
      { workdir: '/nonexistent' },
      'spawn failed: working directory /nonexistent does not exist; nothing was run',
    ],
    [{ signal: AbortSignal.abort('enough') }, 'spawn failed: aborted before spawn: enough'],
  ])('with %j settles and says so in one read', async (fault, delta) => {
    const runner = scratchRunner()
    const command = { ...plain(runner, { command: 'true', ...fault }), ...('argv' in fault ? fault : {}) }
    const process = runner.start(command)
    expect(process.status).toBe('running')
    await process.done
    expect(process).toMatchObject({ status: 'killed', exitCode: null, signal: null })
    expect(process.readOutput()).toEqual({ delta, lossy: false })
    expect(process.readOutput()).toEqual({ delta: '', lossy: false })
  })
})

describe('the judge', () => {
  it('sees how it ended, and its answer is there before done resolves', async () => {
    const runner = scratchRunner()
    const seen: EndedCommand[] = []
    const verdict = { mode: 'read-only', denied: true } as const
    const judge = (ended: EndedCommand) => (seen.push(ended), verdict)
    const process = runner.start({
      ...plain(runner, 'echo r >&3; echo o; echo e >&2; exit 1'),
      statusFd: 3,
      judge,
    })
    expect(process).not.toHaveProperty('sandbox')
    await process.done
    expect(process.sandbox).toBe(verdict)
    expect(seen).toEqual([
      {
        exitCode: 1,
        signal: null,
        timedOut: false,
        killed: false,
        aborted: false,
        timeoutMs: 120_000,
        stdout: { text: 'o\n', truncated: false },
        stderr: { text: 'e\n', truncated: false },
        statusText: 'r\n',
      },
    ])
  })

  it('is told of a start that failed', async () => {
    const runner = scratchRunner()
    let code: string | undefined
    const judge = (ended: EndedCommand) => {
      code = ended.spawnError?.code
      return undefined
    }
    await runner.start({ ...plain(runner, ''), argv: ['/nonexistent'], judge }).done
    expect(code).toBe('ENOENT')
  })

  it('that throws costs the verdict alone', async () => {
    const runner = scratchRunner()
    const judge = () => {
      throw new Error('judge')
    }
    const process = runner.start({ ...plain(runner, 'exit 2'), judge })
    await process.done
    expect(process).toMatchObject({ status: 'completed', exitCode: 2 })
    expect(process).not.toHaveProperty('sandbox')
  })
})
