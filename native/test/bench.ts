/**
 * A scratch folder with the built programs in it, and ways to run them as root and as an ordinary user.
 * It lies under /var/tmp, since an ordinary user can often not enter the checkout.
 */

import { spawnSync, type SpawnSyncReturns } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach } from 'vitest'
import { parseProbe } from '../src/index.ts'
import { BUILT, IS_MUSL, LAUNCHER, has, skipWithout } from './needs.ts'

const TOOLS = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Who runs a command: `prefix` turns the test's own user into that one. */
export interface Identity {
  readonly name: string
  readonly uid: number
  readonly prefix: readonly string[]
}

const OWN_UID = process.getuid?.() ?? -1
/** An ordinary user, to whom only root can turn. */
export const NOBODY: Identity = {
  name: 'an ordinary user',
  uid: 65534,
  prefix: ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'],
}

/** True when root's share of a suite can run. */
export const AS_ROOT = OWN_UID === 0

/** Both users when the tests run as root, else the one there is. */
export const IDENTITIES: readonly Identity[] = AS_ROOT
  ? [{ name: 'root', uid: 0, prefix: [] }, NOBODY]
  : [{ name: 'the user at hand', uid: OWN_UID, prefix: [] }]

export interface Ended {
  readonly status: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly identity?: Identity
  readonly env?: Readonly<Record<string, string>>
  /** Descriptors from 3 up: `pipe` to read what is written, a number to hand one on, `ignore` for none. */
  readonly extra?: readonly ('pipe' | 'ignore' | number)[]
}

function spawned(argv: readonly string[], options: RunOptions): SpawnSyncReturns<string> {
  const [program = '', ...args] = [...(options.identity?.prefix ?? []), ...argv]
  return spawnSync(program, args, {
    encoding: 'utf8',
    cwd: '/',
    env: { PATH: TOOLS, LC_ALL: 'C', ...options.env },
    stdio: ['ignore', 'pipe', 'pipe', ...(options.extra ?? [])],
    maxBuffer: 16 << 20,
  })
}

/** What musl calls an errno, and what glibc does. */
const MUSL_WORDS = {
  'I/O error': 'Input/output error',
  'Not supported': 'Operation not supported',
  'Symbolic link loop': 'Too many levels of symbolic links',
} as const

/** A launcher's line ends with the words of its C library; tests expect those of glibc. */
function inGlibcWords(stderr: string): string {
  if (!IS_MUSL) return stderr
  return Object.entries(MUSL_WORDS).reduce(
    (text, [musl, glibc]) => text.replaceAll(`: ${musl}\n`, `: ${glibc}\n`),
    stderr,
  )
}

/** Runs a command to its end. */
export function run(argv: readonly string[], options: RunOptions = {}): Ended {
  const { error, status, signal, stdout, stderr } = spawned(argv, options)
  if (error !== undefined) throw error
  return { status, signal, stdout, stderr: inGlibcWords(stderr) }
}

/** Runs a command with a pipe on descriptor 3; `report` is all that was written there. */
export function runReporting(
  argv: readonly string[],
  options: RunOptions = {},
): Ended & { readonly report: string } {
  const { error, status, signal, stdout, stderr, output } = spawned(argv, { ...options, extra: ['pipe'] })
  if (error !== undefined) throw error
  return { status, signal, stdout, stderr: inGlibcWords(stderr), report: output[3] ?? '' }
}

/** ABI of the running kernel's Landlock; 0 where it has none, and where no launcher is there to ask. */
export function landlockAbi(): number {
  if (!has('the launcher')) return 0
  return parseProbe(run([LAUNCHER, '--probe']).stdout)?.abi ?? 0
}

/** Paths of one test file's scratch; the folders exist anew before each test. */
export interface Bench {
  readonly launcher: string
  readonly faultRun: string
  /** Belongs to whoever runs, and is to be granted. */
  readonly workspace: string
  /** Belongs to whoever runs, and is not to be granted. */
  readonly outside: string
  /** Gives both folders to a user. */
  giveTo(identity: Identity): void
}

/** Every test of the file needs the launcher. */
export function useBench(): Bench {
  // Made at once rather than in a hook, so that tables of cases can name its paths.
  const scratch = realpathSync(mkdtempSync('/var/tmp/dsh-landlock-'))
  const bench = {
    launcher: join(scratch, 'landlock-run'),
    faultRun: join(scratch, 'fault-run'),
    workspace: join(scratch, 'workspace'),
    outside: join(scratch, 'outside'),
    giveTo(identity: Identity) {
      for (const folder of [bench.workspace, bench.outside]) chownSync(folder, identity.uid, identity.uid)
    },
  }
  beforeAll(() => {
    chmodSync(scratch, 0o755)
    if (!has('the launcher')) return
    copyFileSync(LAUNCHER, bench.launcher)
    copyFileSync(join(BUILT, 'fault-run'), bench.faultRun)
  })
  beforeEach(({ skip }) => {
    skipWithout(skip, 'the launcher')
    for (const folder of [bench.workspace, bench.outside]) {
      rmSync(folder, { recursive: true, force: true })
      mkdirSync(folder)
    }
  })
  afterAll(() => rmSync(scratch, { recursive: true, force: true }))
  return bench
}

/** A file that belongs to a user and only that user may read or write. */
export function putFile(path: string, content: string, identity: Identity): void {
  writeFileSync(path, content)
  chmodSync(path, 0o600)
  chownSync(path, identity.uid, identity.uid)
}

/** Syscall numbers that differ by architecture. */
export const SYSCALL_NUMBERS = {
  x64: { rtSigaction: 13, rtSigprocmask: 14, prctl: 157, capget: 125, capset: 126, fcntl: 72, execve: 59 },
  arm64: { rtSigaction: 134, rtSigprocmask: 135, prctl: 167, capget: 90, capset: 91, fcntl: 25, execve: 221 },
} as const

/** The row for this machine. */
export function syscallNumbers() {
  if (process.arch === 'x64' || process.arch === 'arm64') return SYSCALL_NUMBERS[process.arch]
  throw new Error(`add a row of syscall numbers for ${process.arch}`)
}
