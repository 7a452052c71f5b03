/**
 * Roots of a policy, made canonical and pinned. Each spelling is resolved at its first use; from then on it must lead to
 * the same directory (device and inode), so that nobody moves the boundary by swapping a link or a directory.
 */

import { realpathSync, statSync, type BigIntStats } from 'node:fs'
import { isAbsolute } from 'node:path'
import { SandboxPolicyError, type SandboxPolicyRule } from 'dsh-sandbox'

/** A directory and its identity. */
export interface PinnedRoot {
  /** Canonical: absolute, no links, no trailing slash. */
  readonly path: string
  readonly dev: bigint
  readonly ino: bigint
}

export interface RootPins {
  /** @throws {SandboxPolicyError} the root is missing, is no directory, or is not the directory it was. */
  pin(spelled: string): PinnedRoot
}

export function createRootPins(): RootPins {
  const pins = new Map<string, PinnedRoot>()
  return {
    pin(spelled) {
      const found = identify(spelled)
      const pinned = pins.get(spelled)
      if (pinned === undefined) {
        pins.set(spelled, found)
        return found
      }
      if (pinned.path === found.path && pinned.dev === found.dev && pinned.ino === found.ino) return pinned
      throw new SandboxPolicyError(
        'root-changed',
        spelled,
        `workspace root ${spelled} is not the directory it was when first used (${pinned.path}); nothing was run. ` +
          'Put the directory back, or start anew to use the new one.',
      )
    },
  }
}

function identify(spelled: string): PinnedRoot {
  if (!isAbsolute(spelled)) {
    throw new SandboxPolicyError(
      'root-not-absolute',
      spelled,
      `workspace root "${spelled}" must be an absolute path`,
    )
  }
  const { path, stats } = resolveRoot(spelled)
  if (!stats.isDirectory()) throw rootFault('root-not-directory', spelled, 'is not a directory')
  return { path, dev: stats.dev, ino: stats.ino }
}

function resolveRoot(spelled: string): { path: string; stats: BigIntStats } {
  try {
    const path = realpathSync.native(spelled)
    return { path, stats: statSync(path, { bigint: true }) }
  } catch (cause) {
    // Node's fs errors carry `code`; anything else would be a bug and shows as "undefined" here.
    const code = (cause as NodeJS.ErrnoException).code
    if (code === 'ENOENT') throw rootFault('root-missing', spelled, 'does not exist', cause)
    if (code === 'ENOTDIR') throw rootFault('root-not-directory', spelled, 'is not a directory', cause)
    throw rootFault('root-unreadable', spelled, `cannot be resolved (${code})`, cause)
  }
}

function rootFault(
  rule: SandboxPolicyRule,
  spelled: string,
  fault: string,
  cause?: unknown,
): SandboxPolicyError {
  return new SandboxPolicyError(
    rule,
    spelled,
    `workspace root ${spelled} ${fault}; nothing was run. Create it or name another.`,
    { cause },
  )
}
