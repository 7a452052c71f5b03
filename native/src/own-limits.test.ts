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

/** Undefined once it is gone. */
function commandOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'latin1').trimEnd()
  } catch {
    return undefined
  }
}

/** Each sets the open files of the process that its last argument names to 7, and exits with the errno of that. */
const PRLIMIT = ['prlimit', '--nofile=7:7', '--pid']
/** `int 0x80`, in memory that 32 bits can address. Source: syscall(2); call 340 in syscall_32.tbl. */
const I386 = [
  'python3',
  '-c',
  `
import ctypes, struct, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
page = libc.mmap(None, 4096, 7, 0x62, -1, 0)
code = bytes.fromhex('5389fb89f131f6b854010000cd805bc3')
limits = struct.pack('QQ', 7, 7)
ctypes.memmove(page, code, len(code))
ctypes.memmove(page + 2048, limits, len(limits))
call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_uint)(page)
sys.exit(-call(int(sys.argv[1]), 7, page + 2048))
`,
]
const X32 = [
  'perl',
  '-e',
  'my $limits = pack("QQ", 7, 7); exit 0 if syscall(0x40000000 + 302, $ARGV[0] + 0, 7, $limits, 0) == 0; exit $!',
]

describe.each(IDENTITIES)('as $name', (identity) => {
  const confined = (...options: readonly string[]) => [bench.launcher, '--ro', '/', ...options, '--']

  /** The victim's limit after a command has tried to change it; `setter` gets its number as an argument. */
  async function limitAfter(front: readonly string[], setter: readonly string[] = PRLIMIT) {
    const [program = '', ...args] = [...identity.prefix, 'sleep', '60']
    const victim = spawn(program, args, { stdio: 'ignore', cwd: '/' })
    try {
      await once(victim, 'spawn')
      const pid = victim.pid ?? 0
      await until('the victim is what it is to be', () => commandOf(pid) === 'sleep')
      const { status } = run([...front, ...setter, String(pid)], { identity })
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

  it.runIf(process.arch === 'x64')('nor by the calls of a 32-bit program', async () => {
    const { status, limit } = await limitAfter([], I386)
    // Where the kernel runs no such programs, the call ends the process.
    expect([status, limit]).toEqual(status === null ? [null, limit] : [0, '7'])
    expect((await limitAfter(confined('--own-limits'), I386)).status).toBe(status === null ? null : 1)
  })

  it.runIf(process.arch === 'x64')('nor by those of x32', async () => {
    const { status } = await limitAfter([], X32)
    // Most kernels are built without it: ENOSYS. The filter, which comes before, refuses with EPERM.
    expect([0, 38]).toContain(status)
    expect((await limitAfter(confined('--own-limits'), X32)).status).toBe(1)
  })

  it('they can be read, and its own can be set', () => {
    // The parent that the inner shell asks about is the outer one.
    const script = `ulimit -n 9; ulimit -n; bash -c 'prlimit --pid $PPID --nofile --output=SOFT --noheadings; :'; :`
    const { stdout } = run([...confined('--own-limits'), 'bash', '-c', script], { identity })
    expect(stdout.trim().split(/\s+/)).toEqual(['9', '9'])
  })

  /** Leaves a daemon, found by `$1`; exits once it runs. */
  const DAEMON =
    'setsid sleep "$1" >/dev/null 2>&1 3>&- & until pgrep -f "^sleep $1" >/dev/null; do :; done; exit 3'
  const STARVE = `
    for up in $PPID $(ps -o ppid= -p $PPID); do
      prlimit --pid $up --nofile=0:0; prlimit --pid $up --nofile --output=HARD --noheadings >&3
    done
  `

  it('a supervisor without a descriptor to spare still leaves nobody behind', () => {
    const marker = `86${process.pid}${identity.uid}`
    const starve = `exec 3>&1; ${STARVE} ${DAEMON}`
    const front = [bench.launcher, '--supervise', '--guard', '--ro', '/', '--dev', '/dev/null', '--']
    const { status, stdout } = run([...front, 'bash', '-c', starve, 'bash', marker], { identity })
    const left = endedNow(marker)
    expect([status, stdout.trim().split(/\s+/)]).toEqual([3, ['0', '0']])
    expect(left).toBe(0)
  })

  it('nor does one that cannot read the list of its children at all', async () => {
    const marker = `87${process.pid}${identity.uid}`
    const unlisted = [bench.faultRun, '--open-suffix', '/proc/thread-self/children=2', '--']
    const front = [...unlisted, bench.launcher, '--supervise', '--status-fd', '3', '--no-landlock', '--']
    const [program = '', ...args] = [...identity.prefix, ...front, 'bash', '-c', DAEMON, 'bash', marker]
    const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'], cwd: '/' })
    const ended = once(child, 'exit')
    let report = ''
    // Descriptor 3 was opened as a pipe; the simulator holds it for as long as anything below it lives.
    child.stdio[3]?.on('data', (chunk: Buffer) => (report += chunk.toString()))
    await until('the end is told', () => report.includes('exited'))
    const left = endedNow(marker)
    expect([report, await ended]).toEqual(['ready\nexited 3\n', [3, null]])
    expect(left).toBe(0)
  })
})

/** How many daemons were there to end; the launcher has the marker among its arguments too. */
function endedNow(marker: string): number {
  const left = marked(marker).filter((one) => remains(one) && commandOf(one.pid) === 'sleep')
  for (const { pid } of left) process.kill(pid, 'SIGKILL')
  return left.length
}

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
