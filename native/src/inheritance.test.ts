/** What PROGRAM inherits: descriptors, signals, privileges. Each leak is first shown without the launcher. */

import { closeSync, openSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  AS_ROOT,
  IDENTITIES,
  NOBODY,
  putFile,
  run,
  runReporting,
  syscallNumbers,
  useBench,
} from '../test/bench.ts'

const bench = useBench()
const SYS_CLOSE_RANGE = 436

/** Fields of /proc/self/status, read by the program that was started and by no shell. Descriptor 3 is a pipe. */
function statusOf(argv: readonly string[], pattern: string, options = {}): readonly string[] {
  const { stdout } = runReporting([...argv, 'grep', '-E', pattern, '/proc/self/status'], options)
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/\s+/g, ' '))
}

/** Runs `argv` with a secret file open on descriptor 17. */
function runWithLeak(argv: readonly string[], options = {}) {
  const secret = join(bench.outside, 'secret')
  putFile(secret, 'secret\n', { name: 'root', uid: process.getuid?.() ?? 0, prefix: [] })
  const fd = openSync(secret, 'r')
  const extra = Array.from({ length: 15 }, (_, index) => (index === 14 ? fd : ('ignore' as const)))
  try {
    return run(argv, { ...options, extra })
  } finally {
    closeSync(fd)
  }
}

const READ_17 = ['bash', '-c', 'cat <&17']
const LIST = ['bash', '-c', 'cd /proc/self/fd && echo *']

describe.each(IDENTITIES)('descriptors, as $name', (identity) => {
  it('leak without the launcher', () => {
    expect(runWithLeak(READ_17, { identity })).toMatchObject({ status: 0, stdout: 'secret\n' })
  })

  it.each([
    { how: 'confined', mode: ['--ro', '/'], fault: [] },
    { how: 'passive', mode: ['--passive'], fault: [] },
    { how: 'on a kernel without close_range', mode: ['--ro', '/'], fault: [`${SYS_CLOSE_RANGE}=38`] },
    { how: 'under a filter that refuses close_range', mode: ['--ro', '/'], fault: [`${SYS_CLOSE_RANGE}=1`] },
  ])('are closed: $how', ({ mode, fault }) => {
    const faults = fault.flatMap((rule) => [bench.faultRun, '--no-syscall', rule, '--'])
    expect(runWithLeak([...faults, bench.launcher, ...mode, '--', ...READ_17], { identity })).toEqual({
      status: 1,
      signal: null,
      stdout: '',
      stderr: 'bash: line 1: 17: Bad file descriptor\n',
    })
    // 3 is the listing's own.
    expect(runWithLeak([...faults, bench.launcher, ...mode, '--', ...LIST], { identity }).stdout).toBe(
      '0 1 2 3\n',
    )
  })

  it('that cannot be closed stop the launch', () => {
    const faults = ['--no-syscall', `${SYS_CLOSE_RANGE}=38`, '--open-suffix', '/proc/self/fd=13', '--']
    bench.giveTo(identity)
    const marker = join(bench.workspace, 'ran')
    const { status, stderr } = run(
      [bench.faultRun, ...faults, bench.launcher, '--passive', '--', 'touch', marker],
      {
        identity,
      },
    )
    expect(readdirSync(bench.workspace)).toEqual([])
    expect({ status, stderr }).toEqual({
      status: 125,
      stderr: 'landlock-run: close-descriptors /proc/self/fd: Permission denied\n',
    })
  })

  it('but not the one for reports, while others around it go', () => {
    const open = ['bash', '-c', 'exec 4</dev/null 5</dev/null 6</dev/null; exec "$@"', 'bash']
    const count = ['bash', '-c', 'for fd in 4 5 6; do [ -e /proc/self/fd/$fd ] && printf $fd; done']
    const launch = [bench.launcher, '--passive', '--status-fd', '5', '--', ...count]
    const old = [bench.faultRun, '--no-syscall', `${SYS_CLOSE_RANGE}=38`, '--', ...launch]
    expect(run([...open, ...count], { identity }).stdout).toBe('456')
    expect(run([...open, ...launch], { identity }).stdout).toBe('5')
    expect(run([...open, ...old], { identity }).stdout).toBe('5')
  })
})

describe.runIf(AS_ROOT)('a /proc that is none', () => {
  it('is not taken for a list of descriptors', () => {
    const fake = 'mount -t tmpfs none /proc && mkdir -p /proc/self/fd && exec "$@"'
    const launch = [bench.launcher, '--passive', '--', 'touch', join(bench.workspace, 'ran')]
    const old = [bench.faultRun, '--no-syscall', `${SYS_CLOSE_RANGE}=38`, '--', ...launch]
    const { status, stderr } = run(['unshare', '--mount', 'sh', '-c', fake, 'sh', ...old])
    expect(readdirSync(bench.workspace)).toEqual([])
    expect({ status, stderr }).toEqual({
      status: 125,
      stderr: 'landlock-run: close-descriptors /proc/self/fd: Input/output error\n',
    })
  })
})

describe.each(IDENTITIES)('signals, as $name', (identity) => {
  const awkward = ['env', '--ignore-signal=PIPE,TERM,INT,HUP,CHLD', '--block-signal=TERM,USR1']
  const fields = '^Sig(Blk|Ign)'

  it('are inherited ignored and blocked without the launcher', () => {
    expect(statusOf(awkward, fields, { identity })).toEqual([
      'SigBlk: 0000000000004200',
      'SigIgn: 0000000000015003',
    ])
  })

  it.each([
    { mode: ['--ro', '/'], ignored: 'SigIgn: 0000000000000000' },
    { mode: ['--status-fd', '3', '--ro', '/'], ignored: 'SigIgn: 0000000000000000' },
    { mode: ['--passive'], ignored: 'SigIgn: 0000000000000000' },
    { mode: ['--passive', '--ignore-signals'], ignored: 'SigIgn: 0000000000004003' },
  ])('are reset: $mode', ({ mode, ignored }) => {
    const argv = [...awkward, bench.launcher, ...mode, '--']
    expect(statusOf(argv, fields, { identity })).toEqual(['SigBlk: 0000000000000000', ignored])
  })
})

const PRIVILEGES = '^(Cap...|NoNewPrivs):'
/** CHOWN, DAC_OVERRIDE, FOWNER, FSETID, SETGID, SETUID, NET_BIND_SERVICE. */
const KEPT = 0x4dbn

function privilegesOf(argv: readonly string[], options = {}): Record<string, bigint> {
  const entries = statusOf(argv, PRIVILEGES, options).map((line) => line.split(': '))
  return Object.fromEntries(entries.map(([name = '', value = '']) => [name, BigInt(`0x${value}`)]))
}

describe.each(IDENTITIES)('privileges, as $name', (identity) => {
  const before = () => privilegesOf([], { identity })

  it.each([{ mode: ['--ro', '/'] }, { mode: ['--no-landlock'] }])('are reduced: $mode', ({ mode }) => {
    const { CapPrm = 0n, CapBnd = 0n } = before()
    const canDropBounding = identity.uid === 0
    expect(privilegesOf([bench.launcher, ...mode, '--'], { identity })).toEqual({
      CapInh: 0n,
      CapPrm: CapPrm & KEPT,
      CapEff: CapPrm & KEPT,
      CapBnd: canDropBounding ? CapBnd & KEPT : CapBnd,
      CapAmb: 0n,
      NoNewPrivs: 1n,
    })
  })

  it('are left as they are by --passive', () => {
    expect(privilegesOf([bench.launcher, '--passive', '--'], { identity })).toEqual(before())
  })
})

describe.runIf(AS_ROOT)('privileges that only root can arrange', () => {
  it('hold more than is kept to begin with', () => {
    const { CapEff = 0n, CapBnd = 0n } = privilegesOf([])
    expect([CapEff & ~KEPT, CapBnd & ~KEPT].map((left) => left > 0n)).toEqual([true, true])
  })

  it('are reduced also where the bounding set cannot be', () => {
    const weak = ['setpriv', '--bounding-set=-setpcap']
    const { CapBnd } = privilegesOf(weak)
    expect(privilegesOf([...weak, bench.launcher, '--ro', '/', '--'])).toMatchObject({
      CapPrm: KEPT,
      CapEff: KEPT,
      CapBnd,
    })
  })

  it('are not carried over by the ambient set', () => {
    const ambient = [...NOBODY.prefix, '--inh-caps=+chown,+sys_chroot', '--ambient-caps=+chown,+sys_chroot']
    expect(privilegesOf(ambient)).toMatchObject({ CapEff: 0x40001n, CapAmb: 0x40001n })
    expect(privilegesOf([...ambient, bench.launcher, '--ro', '/', '--'])).toMatchObject({
      CapInh: 1n,
      CapPrm: 0n,
      CapEff: 0n,
      CapAmb: 0n,
    })
  })

  it('still write files of other owners in a granted directory, and only there', () => {
    const other = { name: 'another user', uid: 12345, prefix: [] }
    const inside = join(bench.workspace, 'f')
    const beyond = join(bench.outside, 'f')
    for (const path of [inside, beyond]) putFile(path, 'old\n', other)
    const script = 'echo new > "$1"; chmod 640 "$1"; chown 54321 "$1"; echo new > "$2"'
    const launch = [bench.launcher, '--ro', '/', '--rw', bench.workspace, '--']
    const { stderr } = run([...launch, 'sh', '-c', script, 'sh', inside, beyond])
    expect([inside, beyond].map((path) => readFileSync(path, 'utf8'))).toEqual(['new\n', 'old\n'])
    expect(run(['stat', '-c', '%a %u', inside]).stdout).toBe('640 54321\n')
    expect(stderr).toBe(`sh: 1: cannot create ${beyond}: Permission denied\n`)
  })
})

describe('a step that fails', () => {
  const numbers = syscallNumbers()
  it.each([
    { call: numbers.rtSigaction, says: 'reset-signals: Operation not permitted' },
    { call: numbers.rtSigprocmask, says: 'reset-signals: Operation not permitted' },
    { call: numbers.prctl, says: 'no-new-privs: Operation not permitted' },
    { call: numbers.capget, says: 'capabilities: Operation not permitted' },
    { call: numbers.capset, says: 'capabilities: Operation not permitted' },
    { call: numbers.fcntl, says: 'status-fd: Operation not permitted' },
    { call: 444, says: 'create-ruleset: Operation not permitted' },
    { call: 445, says: 'add-rule /: Operation not permitted' },
    { call: 446, says: 'restrict-self: Operation not permitted' },
  ])('stops the launch: $says', ({ call, says }) => {
    const marker = join(bench.workspace, 'ran')
    const launch = [
      bench.launcher,
      '--status-fd',
      '3',
      '--ro',
      '/',
      '--rw',
      bench.workspace,
      '--',
      'touch',
      marker,
    ]
    const { status, stderr, report } = runReporting([
      bench.faultRun,
      '--no-syscall',
      `${call}=1`,
      '--',
      ...launch,
    ])
    expect(readdirSync(bench.workspace)).toEqual([])
    expect({ status, stderr }).toEqual({ status: 125, stderr: `landlock-run: ${says}\n` })
    const [step, path = '-'] = says.split(':')[0]?.split(' ') ?? []
    expect(report).toBe(`failed ${step} 1 ${path}\n`)
  })
})
