/** Facts about this host and process that backends build on. Read once per provider. */

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
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
  readonly homes: readonly { readonly path: string; readonly what: string }[]
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

function homes(): HostFacts['homes'] {
  const harness = process.env['DSH_HOME']
  return [
    { path: canonicalPath(homedir()), what: 'the home directory' },
    ...(harness === undefined ? [] : [{ path: canonicalPath(harness), what: "the harness's own directory" }]),
  ]
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
