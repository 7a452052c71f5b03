/** One private temp directory per session, 0700, that outlives a call and is made again when it was removed. */

import { chmodSync, lstatSync, mkdirSync, mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { removeTree } from './remove-tree.ts'

/** The session of calls that name none. */
const UNNAMED = ''

export interface SessionTemps {
  /** The directory that holds them all. */
  readonly parent: string
  /** The host path of the session's temp. Makes it when there is none. */
  pathOf(sessionId: string | undefined): string
  end(sessionId: string): Promise<void>
}

/** Session temps below `state`, a directory that only this user can enter. */
export function createSessionTemps(state: string): SessionTemps {
  const paths = new Map<string, string>()
  const parent = join(state, 'sessions')

  function pathOf(sessionId: string = UNNAMED): string {
    const known = paths.get(sessionId)
    if (known !== undefined && isDirectory(known)) {
      // A command may have changed the modes of its own temp.
      chmodSync(known, 0o700)
      return known
    }
    mkdirSync(parent, { recursive: true, mode: 0o700 })
    const made = mkdtempSync(join(parent, 'tmp-'))
    paths.set(sessionId, made)
    return made
  }

  async function end(sessionId: string): Promise<void> {
    const path = paths.get(sessionId)
    paths.delete(sessionId)
    if (path !== undefined) await removeTree(path)
  }

  return { parent, pathOf, end }
}

function isDirectory(path: string): boolean {
  return lstatSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false
}
