/** What every backend offers: pure functions from a grounded policy to an argv, and its dialect. */

import { LAUNCHER_FAILURE_STATUS, LAUNCHER_LINE_PREFIX } from 'dsh-landlock'
import type { ConfinedSandboxMode, ConfinementChannel, RunnerFailureRule, SandboxBackend } from 'dsh-sandbox'
import type { Statement } from '../effects.ts'
import type { GroundedPolicy } from '../grounded-policy.ts'

/** How a backend shows the file system to a command. */
export interface View {
  /** The session's temp as the command names it. */
  readonly tempDir: string
  /** Directories inside that can be written beside it and are gone with the call. */
  readonly scratch: readonly string[]
  /** Directories of the host, open to its programs too, in which a command makes and removes files. Absent: none. */
  readonly shared?: readonly string[]
  /** Host directories replaced by others inside. */
  readonly maskedRoots: readonly string[]
  /** Host directories shown although a masked root holds them. */
  readonly visibleRoots: readonly string[]
}

/** A backend that a probe has found or is about to try. */
export interface Backend {
  readonly backend: SandboxBackend
  /** What the backend answers for. */
  readonly statements: Readonly<Record<ConfinedSandboxMode, Statement>>
  /** True where a command can send any signal to this process. */
  readonly signalsReachHost: boolean
  /** Programs run outside the confinement; each must lie outside every writable root. */
  readonly runners: readonly string[]
  /** The launcher among them, which a command can run inside too; undefined where there is none. */
  readonly launcher: string | undefined
  /** Files that a runner's command line names, such as the script behind an interpreter; the same holds for them. */
  readonly scripts?: readonly string[]
  /** True when the runner can report on a status descriptor. */
  readonly reportsStatus: boolean
  wrap(
    argv: readonly string[],
    policy: GroundedPolicy,
    channel: ConfinementChannel | undefined,
  ): readonly string[]
  view(policy: GroundedPolicy): View
}

/**
 * Words that a denied file operation leaves on stderr (strerror(3) of EROFS, EACCES, EPERM). Under bubblewrap the mounts
 * answer first, with EROFS; EACCES there is nearly always a permission of the host's.
 */
export const DENIAL_DIALECT = {
  bwrap: ['read-only file system'],
  landlock: ['permission denied'],
  seatbelt: ['operation not permitted'],
  custom: ['read-only file system', 'permission denied'],
} as const satisfies Record<SandboxBackend, readonly string[]>

/** The launcher's own failures. It runs before the command, so nothing else can have been printed. */
export const LAUNCHER_FAILURE: RunnerFailureRule = {
  allowedExitCodes: [LAUNCHER_FAILURE_STATUS],
  fatalSignatures: [LAUNCHER_LINE_PREFIX],
  soleOutput: true,
}
