/** The two questions that a verdict asks the disk. */

import { accessSync, constants, existsSync, lstatSync, readlinkSync, realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'

/** Bytes that a path may have on Linux; a line that names a longer one is not about a file. Source: linux/limits.h. */
const PATH_MAX = 4096

/** Links that the kernel follows in one path. Source: path_resolution(7). */
const MAX_LINKS = 40

export interface PathFacts {
  /** Where `path` leads, links followed as far as they lead, the last and dangling one among them. */
  physicalPath(path: string): string
  /** True when this process may write `path`, or make it below its nearest existing ancestor. */
  couldWrite(path: string): boolean
}

export const hostPaths: PathFacts = { physicalPath, couldWrite }

function physicalPath(path: string, linksLeft = MAX_LINKS): string {
  if (path.length > PATH_MAX || linksLeft === 0 || path === dirname(path)) return path
  try {
    return realpathSync.native(path)
  } catch (error) {
    // Node's fs errors carry a code. A ring of links leads nowhere, and walking it costs time that a command could waste.
    if ((error as NodeJS.ErrnoException).code === 'ELOOP') return path
    // It does not exist, or only as a link to what does not: its directory still leads somewhere.
    const target = linkTarget(path)
    if (target !== undefined) return physicalPath(target, linksLeft - 1)
    return join(physicalPath(dirname(path), linksLeft), basename(path))
  }
}

function linkTarget(path: string): string | undefined {
  try {
    if (!lstatSync(path).isSymbolicLink()) return undefined
    return resolve(physicalPath(dirname(path)), readlinkSync(path))
  } catch {
    // There is no such entry.
    return undefined
  }
}

function couldWrite(path: string): boolean {
  if (path.length > PATH_MAX) return false
  let existing = path
  while (!existsSync(existing) && existing !== dirname(existing)) existing = dirname(existing)
  try {
    accessSync(existing, constants.W_OK)
    return true
  } catch {
    // EACCES or EROFS: this process could not have written it either.
    return false
  }
}
