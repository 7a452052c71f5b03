/** The provider seam (`ctx.sandbox`): an argv and a policy in, a confined argv out. */

import type { SandboxEffects, SandboxEnforcement } from './effects.ts'
import type { SandboxPolicy } from './policy.ts'

/** The backends that this family ships. `custom` is an operator's own runner. */
export const SANDBOX_BACKENDS = ['bwrap', 'landlock', 'seatbelt', 'custom'] as const
export type SandboxBackend = (typeof SANDBOX_BACKENDS)[number]

/**
 * How to tell from an exit status and stderr that the runner failed before the command started. It matches when the
 * exit status is not zero, passes `allowedExitCodes`, and some stderr line that is not an informational line contains
 * a fatal signature. Lines and signatures compare without case; blank signatures never match.
 */
export interface RunnerFailureRule {
  /** Exit statuses that the runner uses for its own failures. Absent: any but zero. */
  readonly allowedExitCodes?: readonly number[] | undefined
  /** Substrings of a runner's own fatal line, such as `bwrap: `. */
  readonly fatalSignatures: readonly string[]
  /** Whole lines that the runner prints while all is well; they are set aside first. */
  readonly informationalLines?: readonly string[] | undefined
  /**
   * True: the fatal line must also be the first thing on stderr, with nothing on stdout, since a runner that fails
   * before the command starts lets no one else write. Absent: any line counts.
   */
  readonly soleOutput?: boolean | undefined
}

/** A command wrapped for confinement, and what a caller needs to judge its end. */
export interface ConfinedArgv {
  /** The program and its arguments; the program is an absolute path. */
  readonly argv: readonly string[]
  readonly enforcement: SandboxEnforcement
  /** Substrings that a denied file operation leaves on stderr under this backend. Compared without case. */
  readonly denialSignatures: readonly string[]
  readonly runnerFailureRules: readonly RunnerFailureRule[]
  /** Which backend confines. Absent from providers of other families. */
  readonly backend?: SandboxBackend | undefined
  /** A word per effect. Absent: the provider makes no such statement, so nothing that is required may rely on it. */
  readonly effects?: SandboxEffects | undefined
  /** Canonical directories that the command can write, the session's temp included. */
  readonly writableRoots?: readonly string[] | undefined
  /**
   * Canonical directories of the host that are not to be seen inside, unless a longer entry of `visibleRoots` shows
   * them again. A working directory in there must be refused: inside it would be another directory.
   */
  readonly maskedRoots?: readonly string[] | undefined
  /** Canonical directories shown inside although a masked root holds them. */
  readonly visibleRoots?: readonly string[] | undefined
  /** The descriptor on which the runner reports, when the caller offered one and the runner uses it. */
  readonly statusFd?: number | undefined
  /** The temp as the command sees it, which `TMPDIR` names inside. */
  readonly tempDir?: string | undefined
}

/** What a caller that spawns the argv itself can offer beside it. */
export interface ConfinementChannel {
  /**
   * A descriptor that the caller opens for writing in the spawned process. The runner writes lines to it: `ready` just
   * before the command starts, or `failed STEP ERRNO PATH` when it never will; then, when it stays as the command's
   * parent, `left N` if N more processes had to be ended, and `exited N` or `signaled N`. The command itself never has it.
   */
  readonly statusFd: number
}

/** Wraps commands for confinement. */
export interface SandboxProvider {
  /**
   * Wraps `argv` so that running the result confines it under `policy`. Synchronous; starts no process. Either what
   * comes back enforces the policy or this throws: the argv is never passed through as it was. A provider that cannot
   * use `channel` leaves `statusFd` out of its answer, and its text rules are all there is.
   *
   * @throws {SandboxUnavailableError} no backend is usable, or the probe has not ended yet (see {@link ready}).
   * @throws {SandboxPolicyError} the policy itself is at fault, or asks for what the backend cannot enforce.
   */
  confine(argv: readonly string[], policy: SandboxPolicy, channel?: ConfinementChannel): ConfinedArgv
  /**
   * Resolves once a backend has been selected or all have failed; never rejects for a missing backend (`confine` says
   * so). Cheap once settled. A failed verdict is probed again after a while. Absent: `confine` is always ready.
   */
  ready?(): Promise<void>
  /** Ends one session: its private temp is removed. Unknown ids are ignored. */
  endSession?(sessionId: string): Promise<void>
  /** Ends every session and removes all private state. */
  dispose?(): Promise<void>
}
