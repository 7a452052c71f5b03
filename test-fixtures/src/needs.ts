/** What this host and this account have. In: words of {@link Need}. Out: the words that are missing. */

import { spawnSync } from 'node:child_process'
import { accessSync, constants, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Need } from './corpus.ts'

/** Bit numbers. Source: linux/capability.h. */
const CAPABILITY = { CHOWN: 0, DAC_READ_SEARCH: 2, SYS_ADMIN: 21, MKNOD: 27 } as const

function hasCapability(bit: number): boolean {
  const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'
  return ((BigInt(`0x${effective}`) >> BigInt(bit)) & 1n) === 1n
}

function hasProgram(name: string): boolean {
  return (process.env['PATH'] ?? '').split(delimiter).some((folder) => existsSync(join(folder, name)))
}

/** True when a process may trace one that it did not start. Source: Documentation/admin-guide/LSM/Yama.rst. */
function tracesSiblings(): boolean {
  const scope = '/proc/sys/kernel/yama/ptrace_scope'
  return !existsSync(scope) || readFileSync(scope, 'utf8').trim() === '0' || process.getuid?.() === 0
}

function mayAccess(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    // Whatever access(2) says against it, the attack cannot use it either.
    return false
  }
}

/** True where the file system that cases lie on can be the upper one of an overlay, and the kernel lets a user make one. */
function makesUserOverlays(): boolean {
  const folder = mkdtempSync('/var/tmp/dsh-overlay-')
  try {
    const script =
      'cd "$1" && mkdir low up wd to && mount -t overlay o -o userxattr,lowerdir=low,upperdir=up,workdir=wd to'
    return spawnSync('unshare', ['-Urm', 'sh', '-c', script, 'sh', folder], { stdio: 'ignore' }).status === 0
  } finally {
    // What the overlay kept there is closed even to its owner.
    spawnSync('chmod', ['-R', 'u+rwX', folder])
    rmSync(folder, { recursive: true, force: true })
  }
}

function makesUserNamespaces(): boolean {
  return spawnSync('unshare', ['-Urm', 'true'], { stdio: 'ignore' }).status === 0
}

const [EPERM, EACCES, ENOSYS] = [1, 13, 38]

/** Whether this host takes a system call of x86-64 at all: -1 for every argument is refused in other words then. */
function takesCall(number: number): boolean {
  const script = `import ctypes, sys
call = ctypes.CDLL(None, use_errno=True).syscall
call(int(sys.argv[1]), *[ctypes.c_long(-1)] * 6)
print(ctypes.get_errno())`
  const { status, stdout } = spawnSync('python3', ['-c', script, String(number)], { encoding: 'utf8' })
  return status === 0 && ![EPERM, EACCES, ENOSYS].includes(Number(stdout))
}

/** The number in a file of /proc/sys; undefined where the kernel has no such knob. */
function knob(name: string): number | undefined {
  const file = join('/proc/sys', name)
  return existsSync(file) ? Number(readFileSync(file, 'utf8')) : undefined
}

/** By `int 0x80`: getpid, which is call 20 there. The kernel ends the program where it takes no such calls. */
function takesI386Calls(): boolean {
  const script = `import ctypes, os, sys
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
page = libc.mmap(None, 4096, 7, 0x22, -1, 0)
ctypes.memmove(page, bytes.fromhex('53b814000000cd805bc3'), 10)
sys.exit(0 if ctypes.CFUNCTYPE(ctypes.c_int)(page)() == os.getpid() else 1)`
  return process.arch === 'x64' && spawnSync('python3', ['-c', script]).status === 0
}

/** Whether files below /var/tmp have flags that an owner can set. */
function hasInodeFlags(): boolean {
  const script = `import fcntl, sys, tempfile
with tempfile.NamedTemporaryFile(dir='/var/tmp') as file: fcntl.ioctl(file, 0x40086602, (0x80).to_bytes(8, 'little'))`
  return spawnSync('python3', ['-c', script], { stdio: 'ignore' }).status === 0
}

const PRESENT: Readonly<Record<Need, () => boolean>> = {
  python3: () => hasProgram('python3'),
  perl: () => hasProgram('perl'),
  git: () => hasProgram('git'),
  gcc: () => hasProgram('gcc'),
  unshare: () => hasProgram('unshare'),
  ipcmk: () => hasProgram('ipcmk') && existsSync('/proc/sysvipc/msg'),
  script: () => hasProgram('script'),
  flock: () => hasProgram('flock'),
  'ssh-keygen': () => hasProgram('ssh-keygen'),
  npm: () => hasProgram('npm'),
  terminals: () => mayAccess('/dev/ptmx', constants.R_OK | constants.W_OK) && existsSync('/dev/pts'),
  'shared-memory': () => mayAccess('/dev/shm', constants.W_OK | constants.X_OK),
  'x86-64': () => process.arch === 'x64',
  'sys-admin': () => hasCapability(CAPABILITY.SYS_ADMIN),
  mknod: () => hasCapability(CAPABILITY.MKNOD),
  chown: () => hasCapability(CAPABILITY.CHOWN),
  'dac-read-search': () => hasCapability(CAPABILITY.DAC_READ_SEARCH),
  'user-namespaces': makesUserNamespaces,
  'user-overlays': makesUserOverlays,
  'ptrace-siblings': tracesSiblings,
  // A container often has these read-only, or not at all, for root too.
  'proc-sys': () => mayAccess('/proc/sys/vm/swappiness', constants.W_OK),
  'sysrq-trigger': () => mayAccess('/proc/sysrq-trigger', constants.W_OK),
  'init-root': () => mayAccess('/proc/1/root/var/tmp', constants.W_OK),
  'i386-calls': takesI386Calls,
  'inode-flags': hasInodeFlags,
  // Linux 6.2 brought the knob; before that there is none, and it works.
  'legacy-tiocsti': () => knob('dev/tty/legacy_tiocsti') !== 0,
  keyrings: () => takesCall(248) && takesCall(250),
  'io-uring': () => takesCall(425),
  userfaultfd: () => takesCall(323),
  'perf-events': () => takesCall(298) && (knob('kernel/perf_event_paranoid') ?? 0) <= 2,
  bpf: () => takesCall(321),
}

/**
 * What no installation brings: an attack on it is closed by whatever this host runs in, so it cannot be proved there.
 * Every other need is a failure where the backend is required.
 */
const CLOSED_FROM_OUTSIDE: readonly Need[] = [
  'x86-64',
  'proc-sys',
  'sysrq-trigger',
  'init-root',
  'user-overlays',
  'i386-calls',
  'inode-flags',
  'legacy-tiocsti',
  'keyrings',
  'io-uring',
  'userfaultfd',
  'perf-events',
  'bpf',
]

/** True when no host of this kind could have all of `needs`. */
export function areClosedFromOutside(needs: readonly Need[]): boolean {
  return needs.every((need) => CLOSED_FROM_OUTSIDE.includes(need))
}

const answers = new Map<Need, boolean>()

function isPresent(need: Need): boolean {
  const answer = answers.get(need) ?? PRESENT[need]()
  answers.set(need, answer)
  return answer
}

/** Those of `needs` that this host or account lacks. */
export function missingNeeds(needs: readonly Need[]): readonly Need[] {
  return needs.filter((need) => !isPresent(need))
}
