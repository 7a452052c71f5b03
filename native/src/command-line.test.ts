/** The grammar: what is refused and in which words, and every exit status. */

import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { AS_ROOT, IDENTITIES, run, runReporting, syscallNumbers, useBench } from '../test/bench.ts'
import { IS_MUSL } from '../test/needs.ts'
import { DENIABLE_CALLS, LAUNCHER_OPTIONS } from './index.ts'

const bench = useBench()

describe('usage', () => {
  it.each([
    { args: [], says: 'PROGRAM is missing; see --help' },
    { args: ['--'], says: 'PROGRAM is missing after --' },
    { args: ['--ro', '/'], says: '-- and PROGRAM are missing' },
    { args: ['true'], says: 'unknown option true' },
    { args: ['--bogus', '--', 'true'], says: 'unknown option --bogus' },
    { args: ['--ro=/', '--', 'true'], says: 'unknown option --ro=/' },
    { args: ['a\nb', '--', 'true'], says: 'unknown option a%0Ab' },
    { args: ['--probe', '--', 'true'], says: 'unknown option --probe' },
    { args: ['--ro'], says: 'a value is missing after --ro' },
    { args: ['--rw'], says: 'a value is missing after --rw' },
    { args: ['--dev'], says: 'a value is missing after --dev' },
    { args: ['--shm'], says: 'a value is missing after --shm' },
    { args: ['--setenv'], says: 'a value is missing after --setenv' },
    { args: ['--status-fd'], says: 'a value is missing after --status-fd' },
    { args: ['--rw-pinned'], says: 'a value is missing after --rw-pinned' },
    { args: ['--rw-pinned', '1:2'], says: 'a value is missing after --rw-pinned' },
    { args: ['--rw-pinned', '1', '/', '--', 'true'], says: 'DEV:INO expected, not 1' },
    { args: ['--rw-pinned', '1:', '/', '--', 'true'], says: 'DEV:INO expected, not 1:' },
    { args: ['--rw-pinned', ':2', '/', '--', 'true'], says: 'DEV:INO expected, not :2' },
    { args: ['--rw-pinned', '1:-2', '/', '--', 'true'], says: 'DEV:INO expected, not 1:-2' },
    { args: ['--rw-pinned', '1:2:3', '/', '--', 'true'], says: 'DEV:INO expected, not 1:2:3' },
    {
      args: ['--rw-pinned', '1:18446744073709551616', '/', '--', 'true'],
      says: 'DEV:INO expected, not 1:18446744073709551616',
    },
    { args: ['--setenv', 'A', '--', 'true'], says: 'NAME=VALUE expected, not A' },
    { args: ['--setenv', '=A', '--', 'true'], says: 'NAME=VALUE expected, not =A' },
    { args: ['--status-fd', '2', '--', 'true'], says: 'a descriptor of 3 or more expected, not 2' },
    { args: ['--status-fd', '3x', '--', 'true'], says: 'a descriptor of 3 or more expected, not 3x' },
    {
      args: ['--status-fd', '2147483648', '--', 'true'],
      says: 'a descriptor of 3 or more expected, not 2147483648',
    },
    { args: ['--status-fd', '3', '--status-fd', '4', '--', 'true'], says: 'given twice: --status-fd' },
    { args: ['--guard', '--', 'true'], says: '--guard needs --supervise' },
    {
      args: ['--supervise', '--passive', '--', 'true'],
      says: '--passive has no process of its own to supervise from',
    },
    { args: ['--ignore-signals', '--', 'true'], says: '--ignore-signals needs --passive' },
    {
      args: ['--passive', '--ro', '/', '--', 'true'],
      says: '--passive confines nothing, so it takes no grants',
    },
    {
      args: ['--passive', '--deny', 'metadata', '--', 'true'],
      says: '--passive confines nothing, so it takes no --deny',
    },
  ])('$args is refused', ({ args, says }) => {
    expect(run([bench.launcher, ...args])).toEqual({
      status: 125,
      signal: null,
      stdout: '',
      stderr: `landlock-run: usage: ${says}\n`,
    })
  })

  it('reaches the status descriptor when that was named before the mistake', () => {
    expect(runReporting([bench.launcher, '--status-fd', '3', '--bogus', '--', 'true'])).toMatchObject({
      status: 125,
      report: 'failed usage 22 -\n',
    })
  })

  it('--help names every option, and every group of calls', () => {
    const { status, stdout, stderr } = run([bench.launcher, '--help'])
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(DENIABLE_CALLS.filter((group) => !stdout.includes(group))).toEqual([])
    expect(Object.values(LAUNCHER_OPTIONS).filter((option) => !stdout.includes(`${option} `))).toEqual([])
  })
})

describe.each(IDENTITIES)('exit status, as $name', (identity) => {
  const launch = (...args: string[]) => run([bench.launcher, ...args], { identity })

  it('is PROGRAM’s own', () => {
    expect(launch('--ro', '/', '--', 'sh', '-c', 'echo out; echo err >&2; exit 7')).toEqual({
      status: 7,
      signal: null,
      stdout: 'out\n',
      stderr: 'err\n',
    })
  })

  it('is PROGRAM’s own signal', () => {
    expect(launch('--ro', '/', '--', 'sh', '-c', 'kill -TERM $$')).toMatchObject({
      status: null,
      signal: 'SIGTERM',
    })
  })

  it.each([
    { program: 'no-such-program', status: 127, says: 'No such file or directory' },
    { program: '/no/such/program', status: 127, says: 'No such file or directory' },
    { program: '', status: 127, says: 'No such file or directory' },
    { program: '/etc/passwd', status: 126, says: 'Permission denied' },
    { program: '/etc/passwd/x', status: 126, says: 'Not a directory' },
    { program: '/etc', status: 126, says: 'Permission denied' },
  ])('is $status for the program "$program", and 125 under --passive', ({ program, status, says }) => {
    const stderr = `landlock-run: exec ${program}: ${says}\n`
    expect(launch('--ro', '/', '--', program)).toEqual({ status, signal: null, stdout: '', stderr })
    expect(launch('--passive', '--', program)).toEqual({ status: 125, signal: null, stdout: '', stderr })
  })

  it('is 126 when nothing is granted, which is a legal wish', () => {
    expect(launch('--', '/bin/true')).toEqual({
      status: 126,
      signal: null,
      stdout: '',
      stderr: 'landlock-run: exec /bin/true: Permission denied\n',
    })
  })

  it('is 125 when a grant cannot be opened, and PROGRAM has not run', () => {
    bench.giveTo(identity)
    const marker = join(bench.workspace, 'ran')
    const { status, stderr } = launch(
      '--ro',
      '/',
      '--rw',
      bench.workspace,
      '--ro',
      '/no/such',
      '--',
      'touch',
      marker,
    )
    expect(readdirSync(bench.workspace)).toEqual([])
    expect({ status, stderr }).toEqual({
      status: 125,
      stderr: 'landlock-run: open-grant /no/such: No such file or directory\n',
    })
  })

  it('of a script without an interpreter line is the shell’s, as with execvp; with musl it is no program', () => {
    const script = join(bench.workspace, 'script')
    writeFileSync(script, 'exit 9\n', { mode: 0o755 })
    expect(launch('--ro', '/', '--', script).status).toBe(IS_MUSL ? 126 : 9)
  })
})

describe('names and sizes', () => {
  it('takes paths with spaces, newlines and percent signs as they are', () => {
    const odd = join(bench.workspace, 'a b\nc%20')
    mkdirSync(odd)
    run([bench.launcher, '--ro', '/', '--rw', odd, '--', 'touch', join(odd, 'x y\nz')])
    expect(readdirSync(odd)).toEqual(['x y\nz'])
  })

  it('writes an odd name so that it stays one line and can be read back', () => {
    const { stderr, report, status } = runReporting([
      bench.launcher,
      '--status-fd',
      '3',
      '--ro',
      '/no/a b\nc%20é',
      '--',
      'true',
    ])
    expect(status).toBe(125)
    expect(stderr).toBe('landlock-run: open-grant /no/a b%0Ac%2520é: No such file or directory\n')
    expect(report).toBe('failed open-grant 2 /no/a%20b%0Ac%2520é\n')
    expect(decodeURIComponent('/no/a%20b%0Ac%2520é')).toBe('/no/a b\nc%20é')
  })

  it('passes 1 MiB of arguments on', () => {
    const sixteen = Array.from({ length: 16 }, () => 'x'.repeat(65_536))
    const { status, stdout } = run([
      bench.launcher,
      '--ro',
      '/',
      '--',
      'sh',
      '-c',
      'printf %s "$@" | wc -c',
      'sh',
      ...sixteen,
    ])
    expect({ status, stdout }).toEqual({ status: 0, stdout: '1048576\n' })
  })

  it('takes as many options as fit into a command line', () => {
    const grants = Array.from({ length: 5_000 }, () => ['--rw', bench.workspace]).flat()
    const variables = Array.from({ length: 5_000 }, (_, index) => ['--setenv', `V${index}=${index}`]).flat()
    const { status, stdout } = run([
      bench.launcher,
      ...grants,
      ...variables,
      '--ro',
      '/',
      '--',
      'sh',
      '-c',
      'echo $V0 $V4999',
    ])
    expect({ status, stdout }).toEqual({ status: 0, stdout: '0 4999\n' })
  })
})

describe('the environment', () => {
  it('is what --setenv makes of it, later ones winning', () => {
    const settings = ['OLD=new', 'EMPTY=', 'TWO=a=b', 'LAST=1', 'LAST=2'].flatMap((one) => ['--setenv', one])
    const argv = [bench.launcher, '--ro', '/', ...settings, '--', 'env']
    const { stdout } = run(argv, { env: { OLD: 'old', KEPT: 'kept' } })
    const lines = stdout.split('\n').filter((line) => /^(OLD|KEPT|EMPTY|TWO|LAST)=/.test(line))
    expect(lines.toSorted()).toEqual(['EMPTY=', 'KEPT=kept', 'LAST=2', 'OLD=new', 'TWO=a=b'])
  })

  it('that holds a name twice holds it once after --setenv', () => {
    const twice = `
      my ($call, $path) = (shift, $ARGV[0]);
      my ($argv, $env) = map { pack("p*", @$_) . pack("Q", 0) } \\@ARGV, ["TWICE=1", "TWICE=2"];
      syscall($call + 0, $path, $argv, $env);
    `
    const doubled = ['perl', '-e', twice, String(syscallNumbers().execve)]
    expect(run([...doubled, '/usr/bin/env']).stdout).toBe('TWICE=1\nTWICE=2\n')
    const launch = [bench.launcher, '--ro', '/', '--setenv', 'TWICE=3', '--', '/usr/bin/env']
    expect(run([...doubled, ...launch]).stdout).toBe('TWICE=3\n')
  })

  it('gives PROGRAM’s own PATH to the lookup', () => {
    const tool = join(bench.workspace, 'some-tool')
    writeFileSync(tool, '#!/bin/sh\necho found\n', { mode: 0o755 })
    expect(run([bench.launcher, '--ro', '/', '--', 'some-tool']).status).toBe(127)
    const args = ['--ro', '/', '--setenv', `PATH=${bench.workspace}`, '--', 'some-tool']
    expect(run([bench.launcher, ...args]).stdout).toBe('found\n')
    rmSync(tool)
    expect(run([bench.launcher, ...args]).status).toBe(127)
  })
})

describe('--status-fd', () => {
  it('says ready, and is closed in PROGRAM', () => {
    const args = ['--status-fd', '3', '--ro', '/', '--', 'sh', '-c', 'echo forged >&3']
    expect(runReporting(['sh', '-c', 'echo forged >&3']).report).toBe('forged\n')
    const { report, stderr } = runReporting([bench.launcher, ...args])
    expect(report).toBe('ready\n')
    expect(stderr).toBe('sh: 1: 3: Bad file descriptor\n')
  })

  it('is left to the next runner under --passive, which adds nothing of its own', () => {
    const inner = [bench.launcher, '--status-fd', '3', '--ro', '/', '--', 'sh', '-c', 'exit 3']
    expect(runReporting([bench.launcher, '--passive', '--status-fd', '3', '--', ...inner])).toEqual({
      status: 3,
      signal: null,
      stdout: '',
      stderr: '',
      report: 'ready\n',
    })
  })

  it.each([
    { args: ['--ro', '/', '--', 'no such'], report: 'ready\nfailed exec 2 no%20such\n', status: 127 },
    { args: ['--passive', '--', 'no such'], report: 'failed exec 2 no%20such\n', status: 125 },
    { args: ['--ro', '-', '--', 'true'], report: 'failed open-grant 2 %2D\n', status: 125 },
    { args: ['--rw-pinned', '1:1', '/etc', '--', 'true'], report: 'failed pin 116 /etc\n', status: 125 },
  ])('reports $report', ({ args, report, status }) => {
    expect(runReporting([bench.launcher, '--status-fd', '3', ...args])).toMatchObject({ report, status })
  })

  it('must be open', () => {
    expect(run([bench.launcher, '--status-fd', '9', '--ro', '/', '--', 'true'])).toMatchObject({
      status: 125,
      stderr: 'landlock-run: status-fd: Bad file descriptor\n',
    })
  })

  it('must have a reader, or PROGRAM does not run', () => {
    const script =
      'mkfifo "$2/f"; exec 4<>"$2/f" 3>"$2/f" 4<&-; exec "$1" --status-fd 3 --ro / --rw "$2" -- touch "$2/ran"'
    const { status, stderr } = run(['bash', '-c', script, 'bash', bench.launcher, bench.workspace])
    expect(readdirSync(bench.workspace)).toEqual(['f'])
    expect({ status, stderr }).toEqual({ status: 125, stderr: 'landlock-run: status: Broken pipe\n' })
  })
})

it('the tests see both kinds of user wherever they can', () => {
  expect(IDENTITIES.map(({ uid }) => uid)).toEqual(AS_ROOT ? [0, 65534] : [process.getuid?.()])
})
