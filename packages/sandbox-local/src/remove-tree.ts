/** Removes directories whose contents a confined command made, hostile modes included. */

import { chmodSync, lstatSync, readdirSync, rmSync } from 'node:fs'
import { chmod, lstat, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'

const REMOVAL = { recursive: true, force: true, maxRetries: 3, retryDelay: 20 } as const

/** Removes `path` and all below it. A directory that its owner may not enter is opened first. Links are not followed. */
export async function removeTree(path: string): Promise<void> {
  try {
    await rm(path, REMOVAL)
  } catch {
    // Only modes set by the command stand in the way; what still fails after opening them is reported by rm.
    await openDirectories(path)
    await rm(path, REMOVAL)
  }
}

async function openDirectories(path: string): Promise<void> {
  const entry = await lstat(path)
  if (!entry.isDirectory()) return
  await chmod(path, 0o700)
  for (const name of await readdir(path)) await openDirectories(join(path, name))
}

/** The same for an exit hook, which cannot wait. Never throws: at exit there is no one to tell. */
export function removeTreeSync(path: string): void {
  try {
    rmSync(path, REMOVAL)
  } catch {
    try {
      openDirectoriesSync(path)
      rmSync(path, REMOVAL)
    } catch {
      // Owned by another user, or on a file system that is gone: nothing more can be done while exiting.
    }
  }
}

function openDirectoriesSync(path: string): void {
  if (!lstatSync(path).isDirectory()) return
  chmodSync(path, 0o700)
  for (const name of readdirSync(path)) openDirectoriesSync(join(path, name))
}
