/** What a call may do: the policy that rides on each call to a provider. */

import type { SandboxEffect } from './effects.ts'
import type { ConfinedSandboxMode, SandboxMode } from './modes.ts'

/** Upper bounds on what one command may use. Absent members are unlimited. */
export interface SandboxLimits {
  /** Processes and threads alive at one time. */
  readonly processes?: number | undefined
  /** Virtual memory of one process, in bytes. */
  readonly memoryBytes?: number | undefined
  /** Size of one file that the command writes, in bytes. */
  readonly fileSizeBytes?: number | undefined
  /** Descriptors open at one time in one process. */
  readonly openFiles?: number | undefined
}

/**
 * The mode, the root it speaks of, and optional restrictions and grants beside it. A restriction that the backend
 * cannot enforce is refused with {@link SandboxPolicyError}; it is never silently dropped.
 */
export interface SandboxExecutionPolicy {
  readonly mode: SandboxMode
  /**
   * The directory that `workspace-write` opens for writing. Absolute. A provider makes it canonical and pins it by
   * device and inode at the first call that names it; a root that later points elsewhere is refused.
   */
  readonly workspaceRoot: string
  /** Whose private temp the call gets. Absent: the provider's one unnamed session. */
  readonly sessionId?: string | undefined
  /** Further directories to open for writing in `workspace-write`. Absolute; they must exist. */
  readonly writableRoots?: readonly string[] | undefined
  /** Paths inside a writable root that stay read-only. */
  readonly protectedPaths?: readonly string[] | undefined
  /** Paths that cannot be read. */
  readonly hiddenPaths?: readonly string[] | undefined
  /** Absent means `host`. */
  readonly network?: 'host' | 'loopback' | 'none' | undefined
  /** Absent means `host`; a list opens these socket paths and no others. */
  readonly unixSockets?: 'host' | 'none' | readonly string[] | undefined
  /** `private` (what absent means): the host's `/tmp` is out of reach. `host`: it is writable. */
  readonly tmp?: 'private' | 'host' | undefined
  readonly limits?: SandboxLimits | undefined
  /** Effects that must be `enforced`, else the call is refused. */
  readonly requires?: readonly SandboxEffect[] | undefined
}

/** A policy that asks for confinement; the only kind that a provider takes. */
export interface SandboxPolicy extends SandboxExecutionPolicy {
  readonly mode: ConfinedSandboxMode
}

/** Narrows a policy to one that asks for confinement. */
export function isConfinedPolicy(policy: SandboxExecutionPolicy): policy is SandboxPolicy {
  return policy.mode !== 'danger-full-access'
}
