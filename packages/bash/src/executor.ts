/** The execution seam: `ctx.bash`, and the same object as `ctx.shell`. */

import type { SandboxMode } from 'dsh-sandbox'
import type { BashProcess } from './process.ts'
import type { BashExecRequest, BashExecSpec } from './request.ts'
import type { BashRunResult } from './result.ts'

/** Runs bash commands. */
export interface BashExecutor {
  /** The mode that calls run under unless they name one. `undefined`: this executor confines nothing. */
  readonly sandboxMode: SandboxMode | undefined
  /**
   * Fills in every default. Pure: starts nothing, waits for nothing.
   * @throws {TypeError} a value that no command could run with (a timeout of zero, a `DSH_*` name in `env`).
   */
  resolve(request: BashExecRequest): BashExecSpec
  /**
   * Runs to the end. Rejects only when the command could not be started: {@link BashWorkdirError}, an errno of the
   * spawn, `SandboxUnavailableError`, `SandboxPolicyError`, or the caller's own abort reason when it fired before.
   */
  run(spec: BashExecSpec): Promise<BashRunResult>
  /**
   * Starts in the background and returns at once, without a timeout.
   * @throws {SandboxUnavailableError} confined, and no backend is usable.
   * @throws {SandboxPolicyError} the policy is at fault.
   */
  start(spec: BashExecSpec): BashProcess
  /** Ends everything that this executor started, waits until it is gone, and removes its private state. */
  dispose(): Promise<void>
}
