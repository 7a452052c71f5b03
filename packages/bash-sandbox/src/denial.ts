/**
 * Whether a failure is put down to the sandbox. Conservative, and pure but for the questions about paths that it is given
 * the answers to. Where the words are in doubt, it is no denial.
 */

import { isAbsolute, normalize, resolve } from 'node:path'
import type { BashDenial } from 'dsh-bash'
import type { EndedCommand } from 'dsh-bash-local'
import { deepestRoot, SHARED_MEMORY, type ConfinedArgv } from 'dsh-sandbox'
import type { PathFacts } from './path-facts.ts'

export interface DenialFacts extends PathFacts {
  readonly workdir: string
  readonly confined: ConfinedArgv
}

/** EROFS without a path is still telling: hardly anything but a read-only mount says it. */
const TELLING_ALONE = 'read-only file system'

/** What may follow the words: nothing, a path, `, open '/x'` (Node), `(os error 13)` (Rust). Not `(publickey)`. */
const AFTER_WORDS = /^(\.?$|: |, \w+ ['"]| \(os error \d+\)|\)$)/

/** Paths of one command that are looked up on the disk, so that what it prints cannot hold up its harness. */
const MAX_PATHS = 200

/** Names that stand where a path could, but are calls: `bind: Permission denied`. */
const CALL_NAMES: ReadonlySet<string> = new Set(
  'accept bind chroot clone connect dlopen exec execve fork ioctl kill listen mount open ptrace read recv send setgid setuid socket write'.split(
    ' ',
  ),
)

/** Statuses that a shell gives to a signal death, 128 + n. bubblewrap reports a signal that way (bwrap(1)). */
const isSignalStatus = (status: number) => status > 128 && status <= 192

/** The denial, or undefined when the failure is the command's own. */
export function findDenial(ended: EndedCommand, facts: DenialFacts): BashDenial | undefined {
  if (!mayBeDenied(ended.exitCode)) return undefined
  let wordsAlone = false
  let pathsLeft = MAX_PATHS
  for (const line of ended.stderr.text.split('\n')) {
    const match = matchWords(line, facts.confined.denialSignatures)
    if (match === undefined) continue
    const paths = namedPaths(line, match)
      .slice(0, pathsLeft)
      .map((path) => absolute(path, facts.workdir))
    pathsLeft -= paths.length
    const closed = paths.find((path) => isClosed(path, facts))
    if (closed !== undefined) return denialOf(line, closed, facts)
    if (pathsLeft === 0) break
    wordsAlone ||= paths.length === 0 && match.words === TELLING_ALONE
  }
  return wordsAlone ? { source: 'stderr', confidence: 'low' } : undefined
}

/** 126 and 127 are the shell's own words for a program that cannot be run. */
function mayBeDenied(exitCode: number | null): boolean {
  return exitCode !== null && ![0, 126, 127].includes(exitCode) && !isSignalStatus(exitCode)
}

interface WordMatch {
  readonly words: string
  readonly before: string
  readonly after: string
}

function matchWords(line: string, signatures: readonly string[]): WordMatch | undefined {
  const lower = line.toLowerCase()
  for (const words of signatures) {
    const at = lower.indexOf(words.toLowerCase())
    if (at < 0) continue
    const after = line.slice(at + words.length).trimEnd()
    if (AFTER_WORDS.test(after)) return { words: words.toLowerCase(), before: line.slice(0, at), after }
  }
  return undefined
}

/** Paths that a line names: the quoted ones, else the last word of the part before the words. */
function namedPaths(line: string, { before, after }: WordMatch): readonly string[] {
  // Node names its paths behind the words, and others quote its whole sentence.
  const told = /^, \w+ ['"]/.test(after) ? after : line
  const quoted = [...told.matchAll(/['"‘`]([^'"‘’`]+)['"’]/g)].flatMap(([, path]) =>
    path === undefined ? [] : [path],
  )
  if (quoted.length > 0) return quoted
  const segments = before.replace(/(:\s*| \()$/, '').split(': ')
  const last = segments.at(-1)?.trim() ?? ''
  const word = last.split(' ').at(-1) ?? ''
  if (word.includes('/')) return [last.startsWith('/') ? last : word]
  // Without a slash it is a path only behind a program's name, as in `bash: line 1: notes.txt`.
  const namesFile =
    segments.length > 1 &&
    last === word &&
    word !== '' &&
    !CALL_NAMES.has(word) &&
    !/[@()]|^line \d+$/.test(last)
  return namesFile ? [word] : []
}

function absolute(path: string, workdir: string): string {
  return isAbsolute(path) ? normalize(path) : resolve(workdir, path)
}

/** Closed by the policy, and by nothing else. */
function isClosed(path: string, facts: DenialFacts): boolean {
  const place = isMasked(path, facts.confined) ? path : facts.physicalPath(path)
  return !isOpened(place, facts.confined) && facts.couldWrite(path)
}

/** Inside, the path is another one than on the host, so the host's links say nothing about it. */
function isMasked(path: string, { maskedRoots = [], visibleRoots = [] }: ConfinedArgv): boolean {
  return lengthOf(deepestRoot(maskedRoots, path)) > lengthOf(deepestRoot(visibleRoots, path))
}

/** In a writable root, and not in a deeper one that is merely shown. */
function isOpened(path: string, { writableRoots = [], visibleRoots = [] }: ConfinedArgv): boolean {
  const writable = lengthOf(deepestRoot(writableRoots, path))
  return writable > 0 && writable >= lengthOf(deepestRoot(visibleRoots, path))
}

const lengthOf = (root: string | undefined) => root?.length ?? 0

/** Where programs put temporary files unless they are told of another place. */
const SHARED_TEMPS = ['/tmp', '/var/tmp', SHARED_MEMORY]

/** Under a name of its own, or in the place of the host's. */
function hasPrivateTemp({ tempDir, maskedRoots = [] }: ConfinedArgv): boolean {
  return tempDir !== undefined && (tempDir !== '/tmp' || maskedRoots.includes(tempDir))
}

function denialOf(line: string, path: string, { confined }: DenialFacts): BashDenial {
  const operation = /cannot (\w+)|, (\w+) ['"]/.exec(line)
  const verb = operation?.[1] ?? operation?.[2]
  const inTemp = deepestRoot(SHARED_TEMPS, path) !== undefined && hasPrivateTemp(confined)
  return {
    path,
    ...(verb === undefined ? {} : { operation: verb }),
    source: 'stderr',
    confidence: 'high',
    ...(inTemp
      ? { advice: 'write to $TMPDIR, which is private to this session and writable in every mode' }
      : {}),
  }
}
