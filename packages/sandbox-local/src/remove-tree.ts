/**
 * Removes directories whose contents a confined command made, hostile modes included. The command may still be running:
 * while a path is walked by its names, it can swap a directory for a link and have files outside removed (seen with
 * Node's own `rm`). The system's programs walk by descriptors and follow no link, at any depth.
 */

import { lstatSync } from 'node:fs'
import { execa, execaSync } from 'execa'

/** First as it stands; then, as its owner, with every directory opened. */
const ATTEMPTS = [
  [['rm', '-rf', '--']],
  [
    ['chmod', '-R', 'u+rwX', '--'],
    ['rm', '-rf', '--'],
  ],
] as const

const OPTIONS = {
  // The working directory of this process may be gone, and nothing can be started in it then.
  cwd: '/',
  reject: false,
  stdin: 'ignore',
  stdout: 'ignore',
  extendEnv: false,
  // Where the system keeps them, whatever PATH says.
  env: { PATH: '/usr/bin:/bin:/run/current-system/sw/bin' },
  maxBuffer: 65_536,
} as const

/** Removes `path` and all below it. Links are not followed. @throws {Error} something of it is left. */
export async function removeTree(path: string): Promise<void> {
  let words: string | undefined
  for (const attempt of ATTEMPTS) {
    for (const [program, ...options] of attempt) {
      const result = await execa(program, [...options, path], OPTIONS)
      words = result.stderr?.split('\n')[0] || result.shortMessage
    }
    if (!isThere(path)) return
  }
  throw new Error(`${path} cannot be removed: ${words}`)
}

/** How often an exit hook tries: what it has just killed may still be making files. */
const EXIT_ROUNDS = 5

/** The same for an exit hook, which cannot wait. Never throws: at exit there is no one to tell. */
export function removeTreeSync(path: string): void {
  for (let round = 0; round < EXIT_ROUNDS; round++) {
    for (const [program, ...options] of ATTEMPTS.flat()) {
      execaSync(program, [...options, path], OPTIONS)
      if (!isThere(path)) return
    }
  }
}

function isThere(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false }) !== undefined
}
