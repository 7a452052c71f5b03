/**
 * The provider's private directory: session temps and the launcher's copy. Mode 0700, random name, made at first use,
 * removed on dispose and when the process exits. No policy may open it, or a root above it, for writing.
 */

import { accessSync, chmodSync, constants, lstatSync, mkdtempSync, realpathSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeTree, removeTreeSync } from './remove-tree.ts'

const live = new Set<string>()

function removeLive(): void {
  for (const path of live) removeTreeSync(path)
}

/** Makes the directory. Throws the errno of `mkdtemp` when no parent can hold one. */
export function makePrivateState(parent: string | undefined): string {
  const place = realpathSync(parent ?? stateParent())
  // Whoever may rename entries of the parent could put another launcher in the place of ours.
  if ((statSync(place).mode & 0o1002) === 0o0002)
    throw new Error(`${place} can be changed by every user and is not sticky`)
  const path = mkdtempSync(join(place, 'dsh-sandbox-'))
  if (live.size === 0) process.on('exit', removeLive)
  live.add(path)
  return path
}

/**
 * Gives the directory, and then those in it, the modes they had: a command that Landlock alone confines can change them
 * (chmod(2)), to let others in or to lock us out.
 */
export function keepPrivate(...paths: readonly string[]): void {
  for (const path of paths) {
    const entry = lstatSync(path, { throwIfNoEntry: false })
    if (entry?.isDirectory() === true && (entry.mode & 0o777) !== 0o700) chmodSync(path, 0o700)
  }
}

/** Removes the directory and forgets it. */
export async function removePrivateState(path: string): Promise<void> {
  await removeTree(path)
  live.delete(path)
  if (live.size === 0) process.off('exit', removeLive)
}

/**
 * `/var/tmp` before the system's temp directory: bubblewrap shows another `/tmp` inside, and what lies in private state
 * (a spill file, a session temp) must have one name inside and outside.
 */
function stateParent(): string {
  return usableDirectory('/var/tmp') ? '/var/tmp' : tmpdir()
}

function usableDirectory(path: string): boolean {
  try {
    accessSync(path, constants.W_OK | constants.X_OK)
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}
