/** Facts about this host and process that backends build on. Read once per provider. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { join } from 'node:path'
import { canonicalPath } from './grounded-policy.ts'

export interface HostFacts {
  readonly platform: NodeJS.Platform
  /** Undefined where the platform has no user ids. */
  readonly uid: number | undefined
  readonly gid: number | undefined
  /** The effective capability set as a bit mask; 0 where there is none. Source: proc(5), CapEff. */
  readonly capabilities: bigint
  /** True when a mount that is made later can arrive in other mount namespaces. Source: proc_pid_mountinfo(5). */
  readonly mountsPropagate: boolean
  /** Entries of /proc, below no process, through which uid 0 could write the kernel. */
  readonly kernelKnobs: readonly string[]
  /** Directories of this user and of the harness that no writable root may hold. */
  readonly homes: readonly Home[]
}

/** `user`: projects may lie below it. `harness`: nothing below it is a project. */
export interface Home {
  readonly path: string
  readonly of: 'user' | 'harness'
}

export function readHostFacts(): HostFacts {
  return {
    platform: process.platform,
    uid: process.getuid?.(),
    gid: process.getgid?.(),
    capabilities: effectiveCapabilities(),
    mountsPropagate: /^(?:\S+ ){6}.*\b(?:shared|master):\d/m.test(readOptional('/proc/self/mountinfo')),
    kernelKnobs: kernelKnobs(),
    homes: homes(),
  }
}

/** Both the home that HOME names and the one of the user database, since a caller may set HOME. */
function homes(): readonly Home[] {
  const named = canonicalPath(homedir())
  const harness = process.env['DSH_HOME'] ?? join(named, '.dsh')
  const ofUser = new Set([named, canonicalPath(databaseHome() ?? named)])
  return [
    ...[...ofUser].map((path): Home => ({ path, of: 'user' })),
    { path: canonicalPath(harness), of: 'harness' },
  ]
}

function databaseHome(): string | undefined {
  try {
    return userInfo().homedir
  } catch {
    // This uid has no entry, as in many containers.
    return undefined
  }
}

function effectiveCapabilities(): bigint {
  const status = readOptional('/proc/self/status')
  const mask = /^CapEff:\s*([0-9a-f]+)$/m.exec(status)?.[1]
  return mask === undefined ? 0n : BigInt(`0x${mask}`)
}

/**
 * Files with a write bit and directories, processes and links aside. As uid 0 these need no capability to write.
 * Seen: bubblewrap 0.8.0 leaves /proc/sys writable for root without capabilities.
 */
function kernelKnobs(): readonly string[] {
  try {
    return readdirSync('/proc', { withFileTypes: true })
      .filter((entry) => !/^\d+$/.test(entry.name) && !entry.isSymbolicLink())
      .map((entry) => `/proc/${entry.name}`)
      .filter((path) => isWritableKind(path))
  } catch {
    // No /proc here: nothing of it can be shown inside either.
    return []
  }
}

function isWritableKind(path: string): boolean {
  const entry = statSync(path, { throwIfNoEntry: false })
  return entry !== undefined && (entry.isDirectory() || (entry.mode & 0o222) !== 0)
}

function readOptional(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // Not Linux, or /proc is not mounted.
    return ''
  }
}
