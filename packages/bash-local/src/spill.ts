/**
 * Spill files: the complete bytes of a stream that outgrew memory, each in a private file. A path is given out only
 * while it leads to a complete file of ours. Every failure here costs the path and nothing else.
 */

import { randomUUID } from 'node:crypto'
import { accessSync, constants, lstatSync, statSync, type Stats } from 'node:fs'
import { lstat, mkdtemp, open, rm, unlink, type FileHandle } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { ResolvedConfig } from './config.ts'

/** One stream's file. Not opened before the first bytes. */
export interface SpillFile {
  /** Resolves when the bytes are written or the file has been given up. Never rejects. Calls must not overlap. */
  write(bytes: Buffer): Promise<void>
  /** Closes, so that a late error of the file system shows. Never rejects. No fsync: nobody reads it after a crash. */
  close(): Promise<void>
  /** Withdraws the path and removes the file. Never rejects. */
  discard(): Promise<void>
  /** The path, when every byte so far is in the file and the file is still where it was made. */
  path(): string | undefined
}

/** The spill files of one runner. */
export interface SpillStore {
  /** The directory below which it makes its own. */
  readonly parent: string
  file(): SpillFile
  /** Removes every directory that this store made and that is still its own. Never rejects. */
  remove(): Promise<void>
}

/** A thing on disk, pinned: a path may come to lead elsewhere, device and inode tell. */
interface Pinned {
  readonly path: string
  readonly dev: number
  readonly ino: number
}

const pin = (path: string, stats: Stats): Pinned => ({ path, dev: stats.dev, ino: stats.ino })
const isSame = (pinned: Pinned, stats: Stats) => pinned.dev === stats.dev && pinned.ino === stats.ino

export function createSpillStore(config: Pick<ResolvedConfig, 'spillParent' | 'maxSpillBytes'>): SpillStore {
  const parent = config.spillParent ?? defaultSpillParent()
  const made: Pinned[] = []
  let current: Promise<Pinned> | undefined

  const usableDirectory = async (): Promise<Pinned> => {
    const known = await current?.catch(() => undefined)
    if (known !== undefined && (await isPrivateDirectory(known))) return known
    const fresh = makeDirectory(parent)
    current = fresh
    made.push(await fresh)
    return fresh
  }

  // One at a time, so that two streams that overflow together share one directory.
  let turn: Promise<unknown> = Promise.resolve()
  const directory = (): Promise<Pinned> => {
    const mine = turn.then(usableDirectory)
    turn = mine.catch(() => undefined)
    return mine
  }

  return {
    parent,
    file: () => createSpillFile(directory, config.maxSpillBytes),
    async remove() {
      await turn
      current = undefined
      await Promise.all(made.splice(0).map(removeDirectory))
    },
  }
}

/** `/var/tmp` outlives a private `/tmp`, so that a confined command can still read what an earlier one spilled. */
function defaultSpillParent(): string {
  return process.platform !== 'win32' && isUsableParent('/var/tmp') ? '/var/tmp' : tmpdir()
}

function isUsableParent(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return statSync(path).isDirectory()
  } catch {
    // Either call fails only when the directory is not to be used.
    return false
  }
}

/** mkdtemp(3) makes it 0700 with an unpredictable name. */
async function makeDirectory(parent: string): Promise<Pinned> {
  const path = await mkdtemp(join(parent, 'dsh-spill-'))
  return pin(path, await lstat(path))
}

async function isPrivateDirectory(directory: Pinned): Promise<boolean> {
  const stats = await lstat(directory.path).catch(() => undefined)
  return stats !== undefined && stats.isDirectory() && isSame(directory, stats) && (stats.mode & 0o077) === 0
}

async function removeDirectory(directory: Pinned): Promise<void> {
  const stats = await lstat(directory.path).catch(() => undefined)
  if (stats === undefined || !stats.isDirectory() || !isSame(directory, stats)) return
  // What cannot be removed stays private; there is nobody left to tell.
  await rm(directory.path, { recursive: true, force: true }).catch(() => undefined)
}

/** An open spill file and where it lies. */
interface OpenSpill {
  readonly handle: FileHandle
  readonly directory: Pinned
  readonly file: Pinned
}

async function openSpill(directory: Pinned): Promise<OpenSpill> {
  const path = join(directory.path, randomUUID())
  const handle = await open(path, 'wx', 0o600)
  try {
    const spill = { handle, directory, file: pin(path, await handle.stat()) }
    if (!isInPlace(spill)) throw new Error(`the spill directory ${directory.path} was replaced`)
    return spill
  } catch (error) {
    await handle.close().catch(() => undefined)
    throw error
  }
}

/** True while the path leads, through the directory that was made, to the file that was made. Synchronous: two lstat. */
function isInPlace(spill: OpenSpill): boolean {
  const directory = lstatSync(spill.directory.path, { throwIfNoEntry: false })
  if (directory === undefined || !directory.isDirectory() || !isSame(spill.directory, directory)) return false
  const file = lstatSync(spill.file.path, { throwIfNoEntry: false })
  return file !== undefined && file.isFile() && isSame(spill.file, file)
}

type SpillState = 'unopened' | 'writing' | 'whole' | 'withdrawn'

function createSpillFile(directory: () => Promise<Pinned>, maxBytes: number): SpillFile {
  let state: SpillState = 'unopened'
  let spill: OpenSpill | undefined
  let written = 0
  let closed = false

  const release = async () => {
    if (spill === undefined || closed) return
    closed = true
    await spill.handle.close()
  }

  const discard = async () => {
    state = 'withdrawn'
    await release().catch(() => undefined)
    // Through a replaced directory the name would be somebody else's file.
    if (spill !== undefined && safely(spill)) await unlink(spill.file.path).catch(() => undefined)
  }

  // `discard` may be called while a write is under way; its verdict stands.
  const settle = async (next: SpillState, act: () => Promise<void>) => {
    try {
      await act()
      if (state !== 'withdrawn') state = next
      else await discard()
    } catch {
      // Disk full, quota, no descriptors, a vanished directory: the tail in memory is all there is.
      await discard()
    }
  }

  return {
    async write(bytes) {
      if (state === 'withdrawn') return
      state = 'writing'
      written += bytes.length
      if (written > maxBytes) return discard()
      await settle('whole', async () => {
        spill ??= await openSpill(await directory())
        await writeAll(spill.handle, bytes)
      })
    },
    async close() {
      if (state === 'withdrawn' || state === 'unopened') return
      state = 'writing'
      await settle('whole', release)
    },
    discard,
    path() {
      return state === 'whole' && spill !== undefined && safely(spill) ? spill.file.path : undefined
    },
  }
}

function safely(spill: OpenSpill): boolean {
  try {
    return isInPlace(spill)
  } catch {
    // lstat fails (ENOTDIR, EACCES, ELOOP) only when the path no longer leads to our file.
    return false
  }
}

async function writeAll(handle: FileHandle, bytes: Buffer): Promise<void> {
  for (let offset = 0; offset < bytes.length;) {
    offset += (await handle.write(bytes, offset, bytes.length - offset)).bytesWritten
  }
}
