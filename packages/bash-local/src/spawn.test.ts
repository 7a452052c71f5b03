import { chmodSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { BashWorkdirError } from 'dsh-bash'
import { createLocalBash } from './local-bash.ts'
import { withSpareDescriptors } from './testing/descriptors.ts'
import { plain, scratchFolder, scratchRunner } from './testing/scratch.ts'

describe('stdin', () => {
  const kind =
    'if [ -c /dev/stdin ]; then echo device; elif [ -S /dev/stdin ] || [ -p /dev/stdin ]; then echo pipe; fi'

  it.each([
    [undefined, 'device\n'],
    ['', 'pipe\n'],
    ['x', 'pipe\n'],
  ])('of %j is a %s', async (stdin, printed) => {
    const runner = scratchRunner()
    expect(await runner.run(plain(runner, { command: kind, stdin }))).toMatchObject({
      stdout: { text: printed },
    })
  })

  it('is empty when absent', async () => {
    const runner = scratchRunner()
    expect(await runner.run(plain(runner, 'readlink /proc/self/fd/0; cat'))).toMatchObject({
      stdout: { text: '/dev/null\n' },
    })
  })

  it('is written whole to a slow reader, then closed', async () => {
    const runner = scratchRunner()
    const stdin = 'é'.repeat(500_000)
    const slow = 'head -c 10 >/dev/null; read -rt 0.1 <> <(:); wc -c'
    expect(await runner.run(plain(runner, { command: slow, stdin }))).toMatchObject({
      stdout: { text: '999990\n' },
    })
  })

  it('that nobody reads is no error', async () => {
    const runner = scratchRunner()
    const command = plain(runner, { command: 'exec 0<&-; exit 4', stdin: 'x'.repeat(5_000_000) })
    expect(await runner.run(command)).toMatchObject({ exitCode: 4, signal: null })
  })
})

describe('the environment', () => {
  afterEach(() => {
    delete process.env['TEST_API_KEY']
    delete process.env['DSH_TEST']
  })

  it('is exactly what was composed', async () => {
    Object.assign(process.env, { TEST_API_KEY: 'ambient', DSH_TEST: 'stale' })
    const bash = createLocalBash()
    const command = 'echo "${TEST_API_KEY-none} ${DSH_TEST-none} $DSH_SHELL $TERM $PAGER $A"'
    const request = { command, env: { A: 'a' }, dshEnv: { DSH_SHELL: '1' as const } }
    const { stdout } = await bash.run(bash.resolve(request))
    expect(stdout.text).toBe('none none 1 dumb cat a\n')
    await bash.dispose()
  })

  it('takes nothing from this process beside it', async () => {
    const runner = scratchRunner()
    const command = { ...plain(runner, ''), argv: ['/usr/bin/env'], env: { ONLY: '1' } }
    expect(await runner.run(command)).toMatchObject({ stdout: { text: 'ONLY=1\n' } })
  })
})

describe('a command that cannot start', () => {
  it.each([
    ['missing', (base: string) => join(base, 'gone'), 'ENOENT', 'does not exist'],
    [
      'a file',
      (base: string) => (writeFileSync(join(base, 'f'), ''), join(base, 'f')),
      'ENOTDIR',
      'is not a directory',
    ],
    [
      'below a file',
      (base: string) => (writeFileSync(join(base, 'f'), ''), join(base, 'f/x')),
      'ENOTDIR',
      'is not a directory',
    ],
  ])('in a workdir that is %s', async (_, place, code, words) => {
    const runner = scratchRunner()
    const workdir = place(await scratchFolder())
    const failure = await runner
      .run(plain(runner, { command: 'true', workdir }))
      .catch((error: unknown) => error)
    expect(failure).toBeInstanceOf(BashWorkdirError)
    expect(failure).toMatchObject({
      code,
      workdir,
      message: `working directory ${workdir} ${words}; nothing was run`,
    })
  })

  it('in a workdir that may not be entered, unless this user may enter all', async () => {
    const runner = scratchRunner()
    const workdir = await scratchFolder()
    chmodSync(workdir, 0)
    const running = runner.run(plain(runner, { command: 'pwd', workdir }))
    if (process.getuid?.() === 0) expect(await running).toMatchObject({ stdout: { text: `${workdir}\n` } })
    else await expect(running).rejects.toMatchObject({ name: 'BashWorkdirError', code: 'EACCES', workdir })
  })

  it('for want of the program keeps the report of the spawn', async () => {
    const runner = scratchRunner()
    const command = { ...plain(runner, ''), argv: ['/nonexistent/bash', '-c', 'true'] }
    await expect(runner.run(command)).rejects.toMatchObject({
      code: 'ENOENT',
      path: '/nonexistent/bash',
      syscall: 'spawn /nonexistent/bash',
    })
    await expect(runner.pass(command)).rejects.toMatchObject({ code: 'ENOENT' })
  })

  it('for want of the right to execute it', async () => {
    const runner = scratchRunner()
    const path = join(await scratchFolder(), 'plain-file')
    writeFileSync(path, '#!/bin/sh\n', { mode: 0o644 })
    const command = { ...plain(runner, ''), argv: [path] }
    await expect(runner.run(command)).rejects.toMatchObject({ code: 'EACCES', path })
  })

  it.each([
    [{ argv: [] }, 'argv must name a program'],
    [{ argv: [''] }, 'argv must name a program'],
    [{ statusFd: 4 }, 'statusFd must be 3, not 4'],
  ])('because its maker got %j wrong', async (wrong, message) => {
    const runner = scratchRunner()
    await expect(runner.run({ ...plain(runner, ''), ...wrong })).rejects.toThrow(new TypeError(message))
  })

  it('because the signal had fired keeps the reason', async () => {
    const runner = scratchRunner()
    const mark = join(await scratchFolder(), 'ran')
    const reason = new Error('the user left')
    const command = plain(runner, { command: `touch ${mark}`, signal: AbortSignal.abort(reason) })
    const failure: unknown = await runner.run(command).catch((error: unknown) => error)
    expect(failure).toMatchObject({
      message: 'aborted before spawn: the user left',
      code: 'ABORT_ERR',
      cause: reason,
    })
    expect(readdirSync(join(mark, '..'))).toEqual([])
  })

  it('for want of descriptors fails alone, leaks none, and the next one runs', async () => {
    const runner = scratchRunner()
    const command = plain(runner, 'echo ok')
    await runner.run(command)
    const before = readdirSync('/proc/self/fd').length
    for (let spare = 0; spare < 9; spare += 1) {
      const failures = await withSpareDescriptors(spare, () => [
        runner.run(command).then(() => 'ran', codeOf),
        runner.start(command).done.then(() => 'settled'),
      ])
      expect(failures).toEqual([expect.stringMatching(/^(EMFILE|ran)$/), 'settled'])
      if (spare === 0) expect(failures[0]).toBe('EMFILE')
    }
    expect(await runner.run(command)).toMatchObject({ exitCode: 0, stdout: { text: 'ok\n' } })
    expect(readdirSync('/proc/self/fd').length).toBe(before)
  })
})

const codeOf = (error: NodeJS.ErrnoException) => error.code

describe('a workdir that goes away', () => {
  it('is named although the check had passed', async () => {
    const runner = scratchRunner()
    const workdir = join(await scratchFolder(), 'brief')
    mkdirSync(workdir)
    const command = plain(runner, { command: 'pwd', workdir })
    expect(await runner.run(command)).toMatchObject({ stdout: { text: `${workdir}\n` } })
    rmSync(workdir, { recursive: true })
    await expect(runner.run(command)).rejects.toMatchObject({ name: 'BashWorkdirError', code: 'ENOENT' })
  })
})

describe('the status descriptor', () => {
  it('brings what the runner says', async () => {
    const runner = scratchRunner()
    const command = { ...plain(runner, 'echo ready >&3; echo out'), statusFd: 3 }
    expect(await runner.run(command)).toMatchObject({ statusText: 'ready\n', stdout: { text: 'out\n' } })
  })

  it('is cut at 4 KiB and blocks nobody', async () => {
    const runner = scratchRunner()
    const command = { ...plain(runner, 'head -c 1000000 /dev/zero >&3; echo out'), statusFd: 3 }
    const ended = await runner.run(command)
    expect(ended.statusText).toBe('\0'.repeat(4_096))
    expect(ended).toMatchObject({ exitCode: 0, stdout: { text: 'out\n' } })
  })

  it('does not exist unless it was asked for', async () => {
    const runner = scratchRunner()
    const ended = await runner.run(plain(runner, '{ echo x >&3; } 2>/dev/null || echo closed'))
    expect(ended.statusText).toBe(undefined)
    expect(ended.stdout.text).toBe('closed\n')
  })
})
