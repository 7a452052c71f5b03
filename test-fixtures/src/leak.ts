/**
 * The descriptors that a careless program leaves open for everything it starts. Whoever starts `corpus-main` opens them;
 * `corpus-main` inherits them and closes neither.
 *
 * Node marks the first sixteen descriptors close-on-exec when it starts, and stops at the first gap after them, so 17 is
 * the lowest number that leaks through a Node program.  Source: uv_disable_stdio_inheritance().
 */

import {
  closeSync,
  fstatSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs'
import { join } from 'node:path'

/** Open on the leak folder itself, for reading. */
export const LEAKED_FOLDER_FD = 17
/** Open on {@link LEAKED_FILE} in it, for reading and appending. */
export const LEAKED_FILE_FD = 18
export const LEAKED_FILE = 'leaked.txt'
export const LEAKED_FILE_TEXT = 'untouched\n'

/** Two open descriptors in this process, and how to hand them to a child at their numbers. */
export interface OpenLeak {
  /** What to put after the first three entries of a child's `stdio`. */
  readonly stdio: readonly ('ignore' | number)[]
  close(): void
}

/** Makes the folder and its file, and opens both. */
export function openLeak(folder: string): OpenLeak {
  mkdirSync(folder, { recursive: true })
  const folderFd = openSync(folder, 'r')
  const fileFd = openSync(join(folder, LEAKED_FILE), 'a+')
  const gap = Array.from({ length: LEAKED_FOLDER_FD - 3 }, () => 'ignore' as const)
  return {
    stdio: [...gap, folderFd, fileFd],
    close: () => [folderFd, fileFd].forEach((fd) => closeSync(fd)),
  }
}

/**
 * Puts the leak back to what it was. The file keeps its inode, since its descriptor was opened before any case.
 * @throws {Error} the descriptor is not open on the file: this process was not started with the leak.
 */
export function emptyLeak(folder: string): void {
  const [named, open] = [statSync(join(folder, LEAKED_FILE)), fstatSync(LEAKED_FILE_FD)]
  if (named.dev !== open.dev || named.ino !== open.ino)
    throw new Error(`descriptor ${LEAKED_FILE_FD} is not the leak`)
  for (const name of readdirSync(folder))
    if (name !== LEAKED_FILE) rmSync(join(folder, name), { recursive: true })
  ftruncateSync(LEAKED_FILE_FD)
  writeSync(LEAKED_FILE_FD, LEAKED_FILE_TEXT)
}
