/** Directories and policies of tests that the provider runs on itself. */

import { mkdirSync, statSync } from 'node:fs'
import type { ConfinedSandboxMode } from 'dsh-sandbox'
import type { GroundedPolicy } from './grounded-policy.ts'
import type { PinnedRoot } from './roots.ts'

/** Makes a directory, which must not exist, and pins it. `path` is canonical. */
export function makeRoot(path: string): PinnedRoot {
  mkdirSync(path)
  const { dev, ino } = statSync(path, { bigint: true })
  return { path, dev, ino }
}

/** The policy of `mode` for a workspace, with nothing asked for beside it. */
export function plainPolicy(mode: ConfinedSandboxMode, workspace: PinnedRoot, temp: string): GroundedPolicy {
  const writable = mode === 'read-only' ? [] : [workspace]
  return { mode, workspace, writable, tmp: 'private', temp, hidden: [] }
}
