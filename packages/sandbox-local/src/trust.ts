/**
 * Whether a program may be run outside the sandbox on our behalf: nobody but root, this user and the named owners can
 * change it or put another in its place.
 */

import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { isWithin } from 'dsh-sandbox'

const GROUP_WRITE = 0o020
const OTHER_WRITE = 0o002
const STICKY = 0o1000

export interface TrustRules {
  /** User ids whose files are as good as ours. */
  readonly owners: ReadonlySet<number>
  /** Group ids that hold nobody but such users; a group-writable file of theirs passes. */
  readonly groups: ReadonlySet<number>
  /** Directories from which nothing is taken. */
  readonly untrustedRoots: readonly string[]
}

/** Why the canonical `path` is not to be run, in words that follow its name; undefined when it may. */
export function distrust(path: string, rules: TrustRules): string | undefined {
  const root = rules.untrustedRoots.find((candidate) => isWithin(candidate, path))
  if (root !== undefined) return `lies in ${root}, which a command may be able to write`
  for (let current = path; ; current = dirname(current)) {
    const fault = looseEntry(current, rules)
    if (fault !== undefined) return fault
    if (current === '/') return undefined
  }
}

function looseEntry(path: string, rules: TrustRules): string | undefined {
  const stats = statSync(path)
  const { mode, uid, gid } = stats
  const name = `through ${path}`
  if (!rules.owners.has(uid)) return `can be changed by user ${uid} ${name}`
  // In a sticky directory only an entry's owner may replace it (inode(7)), and owners are checked entry by entry.
  if (stats.isDirectory() && (mode & STICKY) !== 0) return undefined
  if ((mode & OTHER_WRITE) !== 0) return `can be changed by every user ${name}`
  if ((mode & GROUP_WRITE) !== 0 && !rules.groups.has(gid)) return `can be changed by group ${gid} ${name}`
  return undefined
}
