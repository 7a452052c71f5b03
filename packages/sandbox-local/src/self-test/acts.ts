/**
 * What the self-test tries for each effect: acts of `landlock-run --try`, each on something outside, where the effect's
 * word decides, and on something of the command's own, which every mode lets through. How they are made is in
 * native/src/acts.cc.
 */

import { lstatSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxEffect } from 'dsh-sandbox'

/** An act on a path. The state of the file tells whether it happened. */
interface FileAct {
  readonly act: string
  readonly effect: SandboxEffect
  /** What lies at the path before. */
  readonly before: 'file' | 'directory' | 'nothing'
  happened(path: string): boolean
}

/** An act on something else. Its errno tells whether it worked. */
export interface OtherAct {
  readonly act: string
  readonly effect: SandboxEffect
  /** What it acts on outside; undefined where this host has nothing to try it on. */
  outside(targets: Targets): string | undefined
  /** What it acts on of its own, in the directory `own`. */
  own(own: string): string
}

/** Things outside that belong to the harness's user. */
export interface Targets {
  /** A process that a signal may end. */
  readonly victim: number
  /** A process that nothing here ends. */
  readonly neighbour: number
  /** A file, and sockets that accept. */
  readonly file: string
  readonly socket: string | undefined
  readonly abstractSocket: string
  readonly tcpPort: number
  readonly udpPort: number
  /** A device that no mode grants. */
  readonly device: string | undefined
}

const OLD_BYTES = 4

const fileActs: readonly FileAct[] = [
  { act: 'write', effect: 'write', before: 'file', happened: (path) => sizeOf(path) !== OLD_BYTES },
  { act: 'create', effect: 'create', before: 'nothing', happened: exists },
  { act: 'mkdir', effect: 'create', before: 'nothing', happened: exists },
  { act: 'symlink', effect: 'create', before: 'nothing', happened: exists },
  { act: 'link', effect: 'create', before: 'file', happened: (path) => exists(`${path}.linked`) },
  { act: 'unlink', effect: 'remove', before: 'file', happened: (path) => !exists(path) },
  { act: 'rmdir', effect: 'remove', before: 'directory', happened: (path) => !exists(path) },
  { act: 'rename', effect: 'rename', before: 'file', happened: (path) => !exists(path) },
  { act: 'truncate', effect: 'truncate', before: 'file', happened: (path) => sizeOf(path) === 0 },
  { act: 'open-truncate', effect: 'truncate', before: 'file', happened: (path) => sizeOf(path) === 0 },
  { act: 'chmod', effect: 'metadata', before: 'file', happened: (path) => modeOf(path) === 0o711 },
  { act: 'utimes', effect: 'metadata', before: 'file', happened: (path) => mtimeOf(path) === 1e12 },
  { act: 'mkfifo', effect: 'special-files', before: 'nothing', happened: exists },
  { act: 'mksocket', effect: 'special-files', before: 'nothing', happened: exists },
]

/** Nobody makes device nodes, in one's own directories as little as outside. */
const forbiddenActs: readonly FileAct[] = [
  { act: 'whiteout', effect: 'special-files', before: 'nothing', happened: exists },
]

export const OTHER_ACTS: readonly OtherAct[] = [
  // Changed to what they are, or invisible to stat(2). A file of another act is as good as one more.
  { act: 'chown', effect: 'metadata', outside: ({ file }) => file, own: (own) => join(own, 'write') },
  { act: 'setxattr', effect: 'metadata', outside: ({ file }) => file, own: (own) => join(own, 'write') },
  { act: 'ioctl', effect: 'device-ioctl', outside: ({ device }) => device, own: () => '/dev/null' },
  { act: 'signal', effect: 'signal-host', outside: ({ victim }) => String(victim), own: () => '+' },
  { act: 'trace', effect: 'ptrace-host', outside: ({ neighbour }) => String(neighbour), own: () => '+' },
  { act: 'see', effect: 'process-visibility', outside: ({ neighbour }) => String(neighbour), own: () => '+' },
  {
    act: 'connect-path',
    effect: 'unix-pathname',
    outside: ({ socket }) => socket,
    own: (own) => `+${join(own, 'sock')}`,
  },
  {
    act: 'connect-abstract',
    effect: 'unix-abstract',
    outside: ({ abstractSocket }) => abstractSocket,
    own: () => `+dsh-own-${process.pid}`,
  },
  { act: 'tcp', effect: 'tcp', outside: ({ tcpPort }) => String(tcpPort), own: () => '+' },
  { act: 'udp', effect: 'udp', outside: ({ udpPort }) => String(udpPort), own: () => '+' },
  { act: 'read', effect: 'read', outside: ({ file }) => file, own: () => '/' },
]

/** Character devices that are harmless to open for reading, and that no mode grants. */
export const UNGRANTED_DEVICES = [
  '/dev/fuse',
  '/dev/net/tun',
  '/dev/loop-control',
  '/dev/hwrng',
  '/dev/kvm',
  '/dev/vhost-net',
  '/dev/rtc0',
] as const

/** One act on one subject. */
export interface Attempt {
  readonly act: string
  readonly effect: SandboxEffect
  /** As the command names it. */
  readonly subject: string
  /** Whether it came to pass. `errno` is what the act reported; undefined when it reported nothing. */
  worked(errno: number | undefined): boolean
}

/** The file acts in a directory. `host` and `inside` are its names on the host and for the command. */
export function fileAttempts(host: string, inside: string): readonly Attempt[] {
  return attemptsOf(fileActs, host, inside)
}

/** What is not to be done in one's own directory either. */
export function forbiddenAttempts(host: string, inside: string): readonly Attempt[] {
  return attemptsOf(forbiddenActs, host, inside)
}

function attemptsOf(acts: readonly FileAct[], host: string, inside: string): readonly Attempt[] {
  return acts.map(({ act, effect, before, happened }) => {
    const path = join(host, act)
    if (before === 'file') writeFileSync(path, 'old\n')
    if (before === 'directory') mkdirSync(path)
    return { act, effect, subject: join(inside, act), worked: () => happened(path) }
  })
}

/** The other acts on what is outside; those that this host has nothing for are left out. */
export function outsideAttempts(targets: Targets): readonly Attempt[] {
  return OTHER_ACTS.flatMap(({ act, effect, outside }) => {
    const subject = outside(targets)
    return subject === undefined ? [] : [{ act, effect, subject, worked: reportedSuccess }]
  })
}

/** The other acts on what is the command's own. */
export function ownAttempts(own: string): readonly Attempt[] {
  return OTHER_ACTS.map(({ act, effect, own: subjectIn }) => ({
    act,
    effect,
    subject: subjectIn(own),
    worked: reportedSuccess,
  }))
}

function reportedSuccess(errno: number | undefined): boolean {
  return errno === 0
}

function exists(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}

function sizeOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.size
}

function modeOf(path: string): number {
  return (lstatSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o7777
}

function mtimeOf(path: string): number | undefined {
  return lstatSync(path, { throwIfNoEntry: false })?.mtimeMs
}
