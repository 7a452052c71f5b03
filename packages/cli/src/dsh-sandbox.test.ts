/** The command as a real process. Needs what `npm run build` makes. */

import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'

const PROGRAM = fileURLToPath(new URL('../bin/dsh-sandbox.js', import.meta.url))
const BACKENDS = ['bwrap', 'landlock'] as const

interface Ended {
  readonly status: number | null
  readonly stdout: string
  readonly stderr: string
}

let scratch: string
let workspace: string
const begun: ChildProcess[] = []
beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/var/tmp/cli-test-'))
  workspace = mkdtempSync(join(scratch, 'ws-'))
})
afterEach(() => {
  for (const child of begun.splice(0)) child.kill('SIGKILL')
  rmSync(scratch, { recursive: true })
})

function dshSandbox(argv: readonly string[], input = '', env: Record<string, string> = {}): Ended {
  const { status, stdout, stderr } = spawnSync(process.execPath, [PROGRAM, ...argv], {
    cwd: workspace,
    input,
    env: { ...process.env, ...env },
    encoding: 'utf8',
    maxBuffer: 256 * 1024 * 1024,
  })
  return { status, stdout, stderr }
}

/** A module that writes each directory that a process makes for itself into `list`, a line each. */
function recorder(list: string): string {
  const source = `
    import fs from 'node:fs'
    import promises from 'node:fs/promises'
    import { syncBuiltinESMExports } from 'node:module'
    const { mkdtempSync } = fs
    const { mkdtemp } = promises
    const told = (path) => (fs.appendFileSync(${JSON.stringify(list)}, path + '\\n'), path)
    fs.mkdtempSync = (...args) => told(mkdtempSync(...args))
    promises.mkdtemp = async (...args) => told(await mkdtemp(...args))
    syncBuiltinESMExports()
  `
  return `data:text/javascript,${encodeURIComponent(source)}`
}

const listOfMade = () => join(scratch, 'made')

/** Starts the command, and has it list the directories that it makes. */
function begin(argv: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, ['--import', recorder(listOfMade()), PROGRAM, ...argv], {
    cwd: workspace,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  begun.push(child)
  return child
}

interface Report {
  readonly backend: string
  readonly usable: boolean
  readonly enforcement?: Readonly<Record<string, string>>
}

const reports: readonly Report[] = JSON.parse(
  spawnSync(process.execPath, [PROGRAM, 'doctor', '--json'], { encoding: 'utf8' }).stdout,
).backends
const usable = reports.flatMap((report) => (report.usable ? [report.backend] : []))

/** What `DSH_REQUIRE_BACKENDS` asks for has to work here. */
const required = (process.env['DSH_REQUIRE_BACKENDS'] ?? '').split(',')
const isRequired = (backend: string) => required.includes('1') || required.includes(backend)

/** bubblewrap without the launcher is another combination, which warns at every start. */
const lacksLauncher = (backend: string) =>
  backend === 'bwrap' &&
  reports.some((one) => one.backend === 'bwrap' && one.enforcement?.['read-only'] === 'partial')

it('has every backend where they are required', () => {
  expect(usable).toStrictEqual(BACKENDS.filter((backend) => isRequired(backend) || usable.includes(backend)))
})

describe.each(BACKENDS)('run under %s', (backend) => {
  beforeEach(({ skip }) =>
    skip(lacksLauncher(backend) && !isRequired(backend), 'needs bwrap with the launcher, which is not here'),
  )

  const works = usable.includes(backend) || isRequired(backend)
  const run = (...argv: string[]): Ended => dshSandbox(['run', '--backend', backend, ...argv])

  it('keeps a write outside from happening, and allows one in the workspace', () => {
    const outside = join(scratch, 'outside')
    const script = `echo x > ${outside}; echo x > inside`
    expect(dshSandbox(['run', '--mode', 'danger-full-access', '-c', script]).status).toBe(0)
    expect([existsSync(outside), existsSync(join(workspace, 'inside'))]).toStrictEqual([true, true])
    rmSync(outside)
    rmSync(join(workspace, 'inside'))

    const { status } = run('--mode', 'workspace-write', '-c', script)
    expect(existsSync(outside)).toBe(false)
    expect(existsSync(join(workspace, 'inside'))).toBe(works)
    expect(status).toBe(works ? 0 : 125)
  })

  it('is read-only unless told otherwise', () => {
    const { status } = run('-c', 'echo x > inside')
    expect(existsSync(join(workspace, 'inside'))).toBe(false)
    expect(status).toBe(works ? 1 : 125)
  })

  it('runs what requires no more than is enforced, and nothing else', () => {
    const script = 'echo x > "$TMPDIR/file" && echo ran'
    expect(run('--require', 'write', '--require', 'create', '-c', script).stdout).toBe(works ? 'ran\n' : '')
    const refused = run(
      '--mode',
      'workspace-write',
      '--require',
      'write',
      '--require',
      'tcp',
      '-c',
      'echo x > inside',
    )
    expect(existsSync(join(workspace, 'inside'))).toBe(false)
    expect(refused.status).toBe(125)
    if (works) expect(refused.stderr).toMatch(/requires effects .* leaves open .*: tcp; nothing was run/)
  })

  it.each([0, 1, 2, 77, 124, 125, 126, 127, 255])('passes exit status %i through', (status) => {
    expect(run('-c', `exit ${status}`)).toStrictEqual(
      works ? { status, stdout: '', stderr: '' } : { status: 125, stdout: '', stderr: expect.any(String) },
    )
  })

  it.each([
    ['KILL', 137],
    ['TERM', 143],
    ['SEGV', 139],
  ])('reports a death by %s as %i', (signal, status) => {
    expect(run('-c', `kill -${signal} $$`).status).toBe(works ? status : 125)
  })

  it('ends a command whose time is over, with 124', () => {
    const stderr = works ? 'dsh-sandbox: timed out after 200ms\n' : expect.any(String)
    expect(run('--timeout', '200', '-c', 'sleep 300')).toStrictEqual({
      status: works ? 124 : 125,
      stdout: '',
      stderr,
    })
  })

  it('hands on arguments as they are', () => {
    const { stdout } = run('--', 'printf', '<%s>', '', 'a b', '--json', '$HOME', '--')
    expect(stdout).toBe(works ? '<><a b><--json><$HOME><-->' : '')
    expect(run('-c', 'printf "<%s>" "$0" "$@"', 'name', '-x').stdout).toBe(works ? '<name><-x>' : '')
  })

  it('passes standard input through', () => {
    expect(dshSandbox(['run', '--backend', backend, 'cat'], 'given\n').stdout).toBe(works ? 'given\n' : '')
    expect(
      JSON.parse(dshSandbox(['run', '--backend', backend, '--json', 'cat'], 'given\n').stdout).stdout?.text,
    ).toBe(works ? 'given\n' : undefined)
  })

  it('only appends to a log that is only appended to', () => {
    const log = join(scratch, 'log')
    const into = (mode: string, script: string) => {
      const program = `"$0" "$1" run --backend ${backend} --mode ${mode} -c "$2" >> "$3" 2>/dev/null`
      return spawnSync('sh', ['-c', program, process.execPath, PROGRAM, script, log], { cwd: workspace })
        .status
    }
    writeFileSync(log, 'kept\n')
    expect(into('danger-full-access', 'echo lost > /proc/self/fd/1')).toBe(0)
    expect(readFileSync(log, 'utf8')).toBe('lost\n')
    writeFileSync(log, 'kept\n')
    const status = into('read-only', 'echo lost > /proc/self/fd/1')
    expect(readFileSync(log, 'utf8')).toBe('kept\n')
    expect(status).toBe(works ? 1 : 125)
    expect(into('read-only', 'echo more')).toBe(works ? 0 : 125)
    expect(readFileSync(log, 'utf8')).toBe(works ? 'kept\nmore\n' : 'kept\n')
  })

  it('tells of a denial in one JSON object and exits as the command did', () => {
    const { status, stdout, stderr } = run('--json', '-c', 'echo out; echo x > inside')
    expect(existsSync(join(workspace, 'inside'))).toBe(false)
    expect([status, stderr]).toStrictEqual(works ? [1, ''] : [125, expect.any(String)])
    const report = JSON.parse(stdout)
    if (!works) expect(report.error.code).toBe('SANDBOX_UNAVAILABLE')
    else {
      expect(report.sandbox.denied).toBe(true)
      expect(report).toMatchObject({
        exitCode: 1,
        signal: null,
        timedOut: false,
        aborted: false,
        timeoutMs: 2_147_483_647,
        stdout: { text: 'out\n', truncated: false },
        mode: 'read-only',
        backend,
      })
    }
  })

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'ends everything on %s and leaves nothing',
    async (signal) => {
      const child = begin([
        'run',
        '--backend',
        backend,
        '-c',
        'sleep 300 & setsid sleep 300 & echo ready; wait',
      ])
      expect(await saysReady(child)).toBe(works)
      if (!works) return expect(await ending(child)).toStrictEqual([125, true])
      // The pipe closes when its last holder is gone: the command and both of its children.
      const ended = ending(child)
      child.kill(signal)
      expect(await ended).toStrictEqual([{ SIGTERM: 143, SIGINT: 130, SIGHUP: 129 }[signal], true])
      expectGone()
    },
  )

  it('kills at once at a second signal', async () => {
    const script = 'trap "echo term" TERM; echo ready; while :; do sleep 300 & wait; done'
    const child = begin(['run', '--backend', backend, '-c', script])
    expect(await saysReady(child)).toBe(works)
    if (!works) return expect(await ending(child)).toStrictEqual([125, true])
    const ended = ending(child)
    child.kill('SIGTERM')
    // It took TERM, did not heed it, and now has its grace.
    await once(child.stdout as NodeJS.ReadableStream, 'data')
    const asked = performance.now()
    child.kill('SIGINT')
    expect(await ended).toStrictEqual([143, true])
    expect(performance.now() - asked).toBeLessThan(2000)
    expectGone()
  })
})

describe('without confinement', () => {
  const open = (...argv: string[]): Ended => dshSandbox(['run', '--mode', 'danger-full-access', ...argv])
  const WARNING = 'dsh-sandbox: warning: danger-full-access runs the command without any confinement\n'

  it('runs, and says so', () => {
    expect(open('-c', 'exit 9')).toStrictEqual({ status: 9, stdout: '', stderr: WARNING })
  })

  it.each([
    ['nosuchprogram', 127, 'spawn nosuchprogram ENOENT'],
    ['/etc/passwd', 126, 'spawn /etc/passwd EACCES'],
  ])('%s is not run: %i', (program, status, fault) => {
    const stderr = `${WARNING}dsh-sandbox: the command could not be run: ${fault}\n`
    // A search path with a directory that may not be entered would change the error.
    const ended = dshSandbox(['run', '--mode', 'danger-full-access', program], '', { PATH: '/usr/bin:/bin' })
    expect(ended).toStrictEqual({ status, stdout: '', stderr })
  })
})

describe('a mistake is one line', () => {
  it.each([
    [
      ['run', '--mode', 'rw', 'true'],
      2,
      '--mode cannot be "rw"; allowed: read-only, workspace-write, danger-full-access',
    ],
    [['run', '--timeout', '0', 'true'], 2, expect.any(String)],
    [['run'], 2, expect.any(String)],
    [['run', '--workspace', '/nowhere', 'true'], 125, expect.any(String)],
    [['run', '--mode', 'workspace-write', '--workspace', '/', 'true'], 125, expect.any(String)],
    [['run', '--backend', 'seatbelt', 'true'], 125, expect.any(String)],
  ])('%j', (argv, status, fault) => {
    const ended = dshSandbox(argv)
    expect([ended.status, ended.stdout]).toStrictEqual([status, ''])
    const [line, ...rest] = ended.stderr.split('\n')
    expect(rest).toStrictEqual([''])
    expect(line?.startsWith('dsh-sandbox: ')).toBe(true)
    expect(line?.slice('dsh-sandbox: '.length)).toStrictEqual(fault)
  })

  it('in a profile, too', () => {
    writeFileSync(join(workspace, 'own.json'), '{"mode":"read-only","network":"none"}')
    expect(dshSandbox(['run', '--profile', 'own.json', 'true'])).toStrictEqual({
      status: 2,
      stdout: '',
      stderr:
        'dsh-sandbox: profile "own.json" has the unknown key "network"; allowed: description, mode, tmp, env, requires, timeoutMs\n',
    })
  })
})

describe('a profile', () => {
  it('says the mode, and a flag outranks it', () => {
    const works = usable.length > 0
    dshSandbox(['run', '--profile', 'ci', '-c', 'echo x > first'])
    dshSandbox(['run', '--profile', 'ci', '--mode', 'read-only', '-c', 'echo x > second'])
    expect([existsSync(join(workspace, 'first')), existsSync(join(workspace, 'second'))]).toStrictEqual([
      works,
      false,
    ])
  })
})

describe('output', () => {
  it('to a reader that left is silent', async () => {
    const child = begin(['run', '--mode', 'danger-full-access', '--json', '-c', 'echo x; exit 3'])
    child.stdout?.destroy()
    const [stderr, [status]] = await Promise.all([
      text(child.stderr as NodeJS.ReadableStream),
      once(child, 'exit'),
    ])
    expect(stderr.split('\n').length).toBe(2)
    expect(status).toBe(3)
  })

  it('that is lost is told', () => {
    const script = `"$0" "$1" run --mode danger-full-access --json true > /dev/full`
    const { status, stderr } = spawnSync('sh', ['-c', script, process.execPath, PROGRAM], {
      encoding: 'utf8',
    })
    expect(status).toBe(1)
    expect(stderr.split('\n').at(-2)).toBe('dsh-sandbox: output could not be written (ENOSPC)')
  })

  it('of any size is one JSON object', () => {
    const { stdout } = dshSandbox([
      'run',
      '--mode',
      'danger-full-access',
      '--json',
      '-c',
      'head -c 20000000 /dev/zero',
    ])
    const report = JSON.parse(stdout)
    expect([report.stdout.text.length, report.stdout.truncated]).toStrictEqual([16 * 1024 * 1024, true])
    expect(Object.keys(report.stdout)).toStrictEqual(['text', 'truncated'])
  })
})

it('knows its version', () => {
  const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  expect(dshSandbox(['--version'])).toStrictEqual({ status: 0, stdout: `${version}\n`, stderr: '' })
})

it('the doctor exits 0 exactly when something works', () => {
  expect(dshSandbox(['doctor']).status).toBe(usable.length > 0 ? 0 : 1)
})

/** False when it ended without a word. */
async function saysReady(child: ChildProcess): Promise<boolean> {
  for await (const chunk of child.stdout?.iterator({ destroyOnReturn: false }) ?? []) {
    if (String(chunk).includes('ready')) return true
  }
  return false
}

/** The exit status, and whether its output pipe has been let go of by everyone. */
async function ending(child: ChildProcess): Promise<readonly [number | null, boolean]> {
  child.stdout?.resume()
  const [status] = await once(child, 'close')
  return [status, child.stdout?.readableEnded ?? false]
}

/** Private state, the probe's scratch and a session's temp at least; with the process, all of it is gone. */
function expectGone(): void {
  const made = readFileSync(listOfMade(), 'utf8').trimEnd().split('\n')
  expect(made.length).toBeGreaterThanOrEqual(3)
  expect(made.filter((path) => existsSync(path))).toStrictEqual([])
}

it.each([
  ['SIGINT', 130],
  ['SIGTERM', 143],
] as const)('the doctor clears up before it obeys %s', async (signal, expected) => {
  const made = () =>
    existsSync(listOfMade()) ? readFileSync(listOfMade(), 'utf8').trimEnd().split('\n') : []
  const child = begin(['doctor', '--json'])
  const exit = once(child, 'exit')
  // It has begun to make things, and is not done with them.
  while (child.exitCode === null && made().length < 2) await setTimeout(10)
  child.kill(signal)
  const [status] = await exit
  expect(status).toBe(expected)
  expect(made().length).toBeGreaterThan(1)
  expect(made().filter((path) => existsSync(path))).toStrictEqual([])
})
