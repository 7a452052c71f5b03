/** `--deny`: which calls fail and how, by whatever way they are made; and a supervisor whose limits were taken away. */

import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { IDENTITIES, run, useBench, type Identity } from '../test/bench.ts'
import { DENIABLE_CALLS, type DeniableCalls } from './index.ts'
import { marked, remains, until } from '../test/processes.ts'

const bench = useBench()

const LIMITS = ['--deny', 'limits-of-others']
const EVERY_GROUP = DENIABLE_CALLS.flatMap((group) => ['--deny', group])

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
    const { status, limit } = await limitAfter(confined(...LIMITS))
    expect(status).toBe(1)
    expect(Number(limit)).toBeGreaterThan(7)
  })

  it.runIf(process.arch === 'x64')('nor by the calls of a 32-bit program', async () => {
    const { status, limit } = await limitAfter([], I386)
    // Where the kernel runs no such programs, the call ends the process.
    expect([status, limit]).toEqual(status === null ? [null, limit] : [0, '7'])
    expect((await limitAfter(confined(...LIMITS), I386)).status).toBe(status === null ? null : 1)
  })

  it.runIf(process.arch === 'x64')('nor by those of x32', async () => {
    const { status } = await limitAfter([], X32)
    // Most kernels are built without it: ENOSYS. The filter, which comes before, refuses with EPERM.
    expect([0, 38]).toContain(status)
    expect((await limitAfter(confined(...LIMITS), X32)).status).toBe(1)
  })

  it('they can be read, and its own can be set', () => {
    // The parent that the inner shell asks about is the outer one.
    const script = `ulimit -n 9; ulimit -n; bash -c 'prlimit --pid $PPID --nofile --output=SOFT --noheadings; :'; :`
    const { stdout } = run([...confined(...LIMITS), 'bash', '-c', script], { identity })
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
    expect([report, await ended]).toEqual(['ready\nleft 1\nexited 3\n', [3, null]])
    expect(left).toBe(0)
  })
})

/**
 * Makes system calls whose other arguments are all -1, which no call does anything with. Reads lines `NUMBER FIRST SECOND`
 * as its arguments, prints the errno of each.
 */
const CALL_BY_NUMBER = `
import ctypes, sys
call = ctypes.CDLL(None, use_errno=True).syscall
rest = [ctypes.c_long(-1)] * 4
for line in sys.argv[1:]:
  words = [ctypes.c_long(int(word)) for word in line.split()]
  call(*words, *rest)
  print(ctypes.get_errno())
`
/** The same by `int 0x80`, as a 32-bit program makes them: eax, ebx and ecx are what C hands on in edi, esi and edx. */
const CALL_AS_I386 = `
import ctypes, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
page = libc.mmap(None, 4096, 7, 0x62, -1, 0)
code = bytes.fromhex('5389f889f389d1' 'baffffffff' 'beffffffff' 'bfffffffff' 'cd805bc3')
ctypes.memmove(page, code, len(code))
call = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_int)(page)
for line in sys.argv[1:]:
  print(-call(*[ctypes.c_int(int(word)).value for word in line.split()]))
`

const EPERM = 1
const EACCES = 13
const X32_BIT = 0x4000_0000
/** Source: inode(7), S_IFCHR. */
const CHARACTER_DEVICE = 0o020000

interface DeniedCall {
  readonly group: DeniableCalls
  readonly call: string
  readonly errno: number
  /** By `process.arch` and, for programs of 32 bits on x64, `i386`; absent where there is no such call. */
  readonly x64?: number
  readonly i386?: number
  readonly arm64?: number
  /** The second argument, where -1 is not what is denied. */
  readonly second?: number
}

/** Source: <asm/unistd_64.h>, <asm/unistd_32.h> and <asm-generic/unistd.h> of Linux 6.1, and syscall.tbl for newer calls. */
const DENIED_CALLS: readonly DeniedCall[] = (
  [
    ['limits-of-others', 'prlimit64', 302, 340, 261],
    ['device-nodes', 'mknod', 133, 14, undefined],
    ['device-nodes', 'renameat2', 316, 353, 276],
    ['kernel-surface', 'add_key', 248, 286, 217],
    ['kernel-surface', 'request_key', 249, 287, 218],
    ['kernel-surface', 'keyctl', 250, 288, 219],
    ['kernel-surface', 'perf_event_open', 298, 336, 241],
    ['kernel-surface', 'bpf', 321, 357, 280],
    ['kernel-surface', 'userfaultfd', 323, 374, 282],
    ['kernel-surface', 'io_uring_setup', 425, 425, 425],
    ['kernel-surface', 'io_uring_enter', 426, 426, 426],
    ['kernel-surface', 'io_uring_register', 427, 427, 427],
    ['kernel-surface', 'mq_open', 240, 277, 180],
    ['kernel-surface', 'mq_unlink', 241, 278, 181],
    ['kernel-surface', 'open_tree', 428, 428, 428],
    ['kernel-surface', 'move_mount', 429, 429, 429],
    ['kernel-surface', 'fsopen', 430, 430, 430],
    ['kernel-surface', 'fsconfig', 431, 431, 431],
    ['kernel-surface', 'fsmount', 432, 432, 432],
    ['kernel-surface', 'fspick', 433, 433, 433],
    ['kernel-surface', 'mount_setattr', 442, 442, 442],
    ['kernel-surface', 'open_tree_attr', 467, 467, 467],
    ['metadata', 'chmod', 90, 15, undefined],
    ['metadata', 'fchmod', 91, 94, 52],
    ['metadata', 'fchmodat', 268, 306, 53],
    ['metadata', 'fchmodat2', 452, 452, 452],
    ['metadata', 'chown', 92, 182, undefined],
    ['metadata', 'fchown', 93, 95, 55],
    ['metadata', 'lchown', 94, 16, undefined],
    ['metadata', 'fchownat', 260, 298, 54],
    ['metadata', 'chown32', undefined, 212, undefined],
    ['metadata', 'fchown32', undefined, 207, undefined],
    ['metadata', 'lchown32', undefined, 198, undefined],
    ['metadata', 'utime', 132, 30, undefined],
    ['metadata', 'utimes', 235, 271, undefined],
    ['metadata', 'futimesat', 261, 299, undefined],
    ['metadata', 'utimensat', 280, 320, 88],
    ['metadata', 'utimensat_time64', undefined, 412, undefined],
    ['metadata', 'setxattr', 188, 226, 5],
    ['metadata', 'lsetxattr', 189, 227, 6],
    ['metadata', 'fsetxattr', 190, 228, 7],
    ['metadata', 'setxattrat', 463, 463, 463],
    ['metadata', 'removexattr', 197, 235, 14],
    ['metadata', 'lremovexattr', 198, 236, 15],
    ['metadata', 'fremovexattr', 199, 237, 16],
    ['metadata', 'removexattrat', 466, 466, 466],
    ['metadata', 'file_setattr', 469, 469, 469],
  ] as const
).map(([group, call, x64, i386, arm64]) => ({
  group,
  call,
  errno: group === 'metadata' ? EACCES : EPERM,
  ...(x64 === undefined ? {} : { x64 }),
  ...(i386 === undefined ? {} : { i386 }),
  ...(arm64 === undefined ? {} : { arm64 }),
  ...(call === 'mknod' ? { second: CHARACTER_DEVICE } : {}),
}))

interface DeniedRequest {
  readonly request: string
  readonly group: DeniableCalls
  readonly errno: number
  readonly number: number
}

/** Source: <asm-generic/ioctls.h>, <linux/fs.h> and their like. */
const DENIED_REQUESTS: readonly DeniedRequest[] = (
  [
    ['kernel-surface', 'TIOCSTI', 0x5412],
    ['kernel-surface', 'TIOCLINUX', 0x541c],
    ['kernel-surface', 'USERFAULTFD_IOC_NEW', 0xaa00],
    ['metadata', 'FS_IOC_SETFLAGS', 0x40086602],
    ['metadata', 'FS_IOC32_SETFLAGS', 0x40046602],
    ['metadata', 'FS_IOC_SETVERSION', 0x40087602],
    ['metadata', 'FS_IOC32_SETVERSION', 0x40047602],
    ['metadata', 'EXT4_IOC_MIGRATE', 0x6609],
    ['metadata', 'BTRFS_IOC_SET_RECEIVED_SUBVOL_32', 0xc0c09425],
    ['metadata', 'EXT4_IOC_SETVERSION', 0x40086604],
    ['metadata', 'EXT4_IOC32_SETVERSION', 0x40046604],
    ['metadata', 'FS_IOC_FSSETXATTR', 0x401c5820],
    ['metadata', 'FS_IOC_ENABLE_VERITY', 0x40806685],
    ['metadata', 'FS_IOC_SET_ENCRYPTION_POLICY', 0x800c6613],
    ['metadata', 'FAT_IOCTL_SET_ATTRIBUTES', 0x40047211],
    ['metadata', 'BTRFS_IOC_SUBVOL_SETFLAGS', 0x4008941a],
    ['metadata', 'BTRFS_IOC_SET_RECEIVED_SUBVOL', 0xc0c89425],
  ] as const
).map(([group, request, number]) => ({
  group,
  request,
  number,
  errno: group === 'metadata' ? EACCES : EPERM,
}))

/** Ways to make calls on this machine; `mask` is added to a number. */
const WAYS =
  process.arch === 'x64'
    ? ([
        { way: 'x86_64', program: CALL_BY_NUMBER, table: 'x64', mask: 0, ioctl: 16 },
        { way: 'x32', program: CALL_BY_NUMBER, table: 'x64', mask: X32_BIT, ioctl: 514 },
        { way: 'i386', program: CALL_AS_I386, table: 'i386', mask: 0, ioctl: 54 },
      ] as const)
    : ([{ way: 'aarch64', program: CALL_BY_NUMBER, table: 'arm64', mask: 0, ioctl: 29 }] as const)

/** The errno of each call, in order. Undefined where the kernel ends a program for making calls this way. */
function errnos(front: readonly string[], program: string, calls: readonly string[], identity: Identity) {
  const { status, stdout, stderr } = run([...front, 'python3', '-c', program, ...calls], { identity })
  if (status === null) return undefined
  expect([status, stderr]).toEqual([0, ''])
  return stdout.trimEnd().split('\n').map(Number)
}

/** Above the 32 bits that the kernel reads of a request. */
const HIGH_BITS = 0x5 * 2 ** 32
/** Harmless, and in no group: TCGETS, FIONREAD and, for its low bits, one that no kernel knows. */
const OTHER_REQUESTS = [0x5401, 0x541b, 0x5413]
const EBADF = 9
/** What CAP_SYS_ADMIN is asked for before anything else. */
const MOUNTING = ['move_mount', 'fsopen', 'fsmount', 'fspick', 'mount_setattr']

describe.each(IDENTITIES)('groups, as $name', (identity) => {
  const front = (...groups: readonly string[]) => [bench.launcher, '--ro', '/', ...groups, '--']

  for (const { way, program, table, mask, ioctl } of WAYS) {
    const calls = DENIED_CALLS.flatMap((row) => {
      const number = row[table]
      return number === undefined ? [] : [{ ...row, line: `${number + mask} -1 ${row.second ?? -1}` }]
    })
    const named = (errors: readonly number[] | undefined) =>
      errors && Object.fromEntries(calls.map(({ call }, at) => [call, errors[at]]))
    const tried = (...groups: readonly string[]) =>
      errnos(
        front(...groups),
        program,
        calls.map(({ line }) => line),
        identity,
      )

    it(`each call fails by ${way}, with the errno of its group`, () => {
      const open = tried()
      expect(named(tried(...EVERY_GROUP))).toEqual(
        open && Object.fromEntries(calls.map(({ call, errno }) => [call, errno])),
      )
      // -1 is refused as an argument, or the whole call as unknown. The kernel's own EPERM for an ordinary user is bpf's, and
      // for everybody outside a user namespace of their own that of mounting; the corpus has a case within one.
      const sameAsDenied = calls.filter(({ errno }, at) => open?.[at] === errno).map(({ call }) => call)
      const own = identity.uid === 0 ? MOUNTING : [...MOUNTING, 'bpf']
      expect(sameAsDenied.filter((call) => !own.includes(call))).toEqual([])
    })

    it(`and no call of another group does by ${way}, but for rings`, () => {
      const open = tried()
      for (const group of DENIABLE_CALLS) {
        const denies = (row: DeniedCall) =>
          row.group === group || (group === 'metadata' && row.call.startsWith('io_uring'))
        const expected = calls.map((row, at) => (denies(row) ? row.errno : open?.[at]))
        expect(named(tried('--deny', group))).toEqual(open && named(expected.map(Number)))
      }
    })

    it(`requests of ioctl go by their low 32 bits by ${way}`, () => {
      const asked = (numbers: readonly number[], ...groups: readonly string[]) =>
        errnos(
          front(...groups),
          program,
          numbers.map((number) => `${ioctl + mask} -1 ${number}`),
          identity,
        )
      const numbers = DENIED_REQUESTS.map(({ number }) => number)
      const denied = DENIED_REQUESTS.map(({ errno }) => errno)
      const open = asked(numbers)
      // x32 is not in every kernel: ENOSYS.
      expect(open?.every((errno) => errno === EBADF || (way === 'x32' && errno === 38)) ?? true).toBe(true)
      expect(asked(numbers, ...EVERY_GROUP)).toEqual(open && denied)
      const high = numbers.map((number) => number + HIGH_BITS)
      expect(asked(high, ...EVERY_GROUP)).toEqual(open && denied)
      expect(asked(OTHER_REQUESTS, ...EVERY_GROUP)).toEqual(asked(OTHER_REQUESTS))
      expect(asked(numbers, '--deny', 'limits-of-others')).toEqual(open)
    })
  }
})

it('a group that is not there is a mistake', () => {
  expect(run([bench.launcher, '--ro', '/', '--deny', 'everything', '--', 'true'])).toMatchObject({
    status: 125,
    stderr: 'landlock-run: usage: no group of calls is named everything\n',
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
    ...LIMITS,
    '--',
  ]
  const { status, stdout, stderr } = run([...front, 'echo', 'ran'])
  expect(stdout).toBe('')
  expect([status, stderr]).toEqual([125, 'landlock-run: seccomp: Invalid argument\n'])
})

/** Makes what the second argument says in the directory that is the first, and prints an errno. */
const NODES = `
  use Fcntl ':mode';
  my ($at, $what) = @ARGV; my ($old, $new) = ('before', 'made'); chdir $at or die;
  my %mode = ('a whiteout' => S_IFCHR, 'a block device' => S_IFBLK, 'a pipe' => S_IFIFO, 'a plain file' => S_IFREG);
  my $done = exists $mode{$what}
    ? syscall(259, -100, $new, $mode{$what} | 0600, 0)
    : do { open(my $f, '>', $old); syscall(316, -100, $old, -100, $new, $what eq 'a whiteout by renaming' ? 4 : 0) };
  print $done == 0 ? 0 : $! + 0`

describe.each(IDENTITIES)('device nodes, as $name', (identity) => {
  const workspace = () => ['--ro', '/', '--rw', bench.workspace]
  const made = (front: readonly string[], what: string) => {
    bench.giveTo(identity)
    const { stdout } = run([...front, 'perl', '-e', NODES, bench.workspace, what], { identity })
    return { errno: stdout, there: readdirSync(bench.workspace).includes('made') }
  }

  it.runIf(process.arch === 'x64').each(['a whiteout', 'a whiteout by renaming'])(
    '%s is not made',
    (what) => {
      expect(made([], what)).toEqual({ errno: '0', there: true })
      rmSync(join(bench.workspace, 'made'))
      const alone = [bench.launcher, '--no-landlock', '--deny', 'device-nodes', '--']
      expect(made(alone, what)).toEqual({ errno: String(EPERM), there: false })
    },
  )

  it.runIf(process.arch === 'x64').each(['a pipe', 'a plain file', 'a new name'])('%s is', (what) => {
    const front = [bench.launcher, ...workspace(), '--deny', 'device-nodes', '--']
    expect(made(front, what)).toEqual({ errno: '0', there: true })
  })

  it.runIf(process.arch === 'x64')('nor is a block device, capabilities or not', () => {
    const front = [bench.launcher, '--no-landlock', '--deny', 'device-nodes', '--']
    expect(made(front, 'a block device')).toEqual({ errno: String(EPERM), there: false })
  })
})

describe.each(IDENTITIES)('btrfs subvolumes, as $name', (identity) => {
  /** Prints the errno of each request on a directory that was opened for reading. */
  const ASK = `
    sysopen(my $d, $ARGV[0], 0) or die; my $name = "\\0" x 4096;
    print join ' ', map { ioctl($d, $_, $name) ? 0 : $! + 0 } 0x50009401, 0x50009417, 0x5000940e, 0x50009418, 0x5000940f, 0x5000943f`
  const ask = ['perl', '-e', ASK, bench.outside]

  it('are neither made nor removed', () => {
    bench.giveTo(identity)
    const asked = (front: readonly string[]) =>
      run([...front, ...ask], { identity })
        .stdout.split(' ')
        .map(Number)
    const open = asked([])
    // Another file system knows none of the requests, btrfs finds no name in them: both have looked at it.
    expect(open.length).toBe(6)
    for (const errno of [EPERM, EBADF]) expect(open).not.toContain(errno)
    const front = [bench.launcher, '--ro', '/', '--deny', 'kernel-surface', '--']
    expect(asked(front)).toEqual(Array(6).fill(EPERM))
  })
})

/** The numbers that the filter is made with, by the header of each architecture where it is installed. */
describe('numbers of calls', () => {
  const source = readFileSync(new URL('seccomp_filter.cc', import.meta.url), 'utf8')
  const rows = [...source.matchAll(/^ {4}\{k\w+(?: \| k\w+)*, E\w+, \{(.*?)\}.*\/\/ (\w+)$/gm)].map(
    ([, numbers = '', call = '']) => ({ call, numbers: numbers.split(', ') }),
  )
  const HEADERS = [
    { column: 0, of: 'x86_64', places: ['x86_64-linux-gnu/asm/unistd_64.h', 'asm/unistd_64.h'] },
    { column: 1, of: 'i386', places: ['x86_64-linux-gnu/asm/unistd_32.h', 'asm/unistd_32.h'] },
    { column: 2, of: 'aarch64', places: ['asm-generic/unistd.h'] },
  ] as const

  it('are read from the source, one for each call that the table above has', () => {
    const named = new Set(rows.map(({ call }) => call))
    expect(DENIED_CALLS.filter(({ call }) => !named.has(call)).map(({ call }) => call)).toEqual([])
  })

  it.each(HEADERS)('of $of are those of its header', ({ column, places }) => {
    const header = places.map((place) => join('/usr/include', place)).find((path) => existsSync(path))
    // The compiler's own library brings them, so where something was built they are there, but on another processor.
    if (header === undefined) return expect(process.arch).not.toBe('x64')
    const defined = new Map(
      [...readFileSync(header, 'latin1').matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)$/gm)].map(
        ([, name = '', number = '']) => [name, number],
      ),
    )
    // The generic header has those of 32 bits too, which aarch64 is not.
    if (column === 2) defined.delete('utimensat_time64')
    const known = rows.filter(({ call }) => defined.has(call))
    expect(known.length).toBeGreaterThan(rows.length / 2)
    for (const { call, numbers } of known) expect([call, numbers[column]]).toEqual([call, defined.get(call)])
    // A call that the header lacks is newer than the header, and has the same number everywhere, or is not of here.
    for (const { call, numbers } of rows.filter((row) => !defined.has(row.call)))
      expect([call, numbers[column] === 'kNone' || new Set(numbers).size === 1]).toEqual([call, true])
  })
})
