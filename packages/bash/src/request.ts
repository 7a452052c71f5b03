/** What a caller asks for, and what an executor acts on once `resolve()` has filled in every default. */

import type { SandboxExecutionPolicy, SandboxMode } from 'dsh-sandbox'
import type { DshEnvironment } from './environment.ts'
import type { OwnerToken } from './ids.ts'

/** A command as a caller words it. Everything but the command has a default. */
export interface BashExecRequest {
  /** Script text, run as `bash -c` without login files. */
  command: string
  /** Absolute, or relative to the executor's own directory. Absent: the executor's directory. */
  workdir?: string | undefined
  /** Milliseconds, above zero; the executor caps it. Absent: the executor's default. Foreground only. */
  timeoutMs?: number | undefined
  /** Bytes of stdout to keep in a foreground run. For trusted callers that must parse whole output; not for a model. */
  stdoutMaxBytes?: number | undefined
  /** Ends the command when it fires. */
  signal?: AbortSignal | undefined
  /** Written to the command's stdin, which is then closed. Absent: stdin is `/dev/null`. Trusted callers only. */
  stdin?: string | undefined
  /** Variables merged after the credential scrub, so they win. A `DSH_*` name is refused. Trusted callers only. */
  env?: Record<string, string> | undefined
  /** The harness's own `DSH_*` facts for this call. Any other name is refused. */
  dshEnv?: DshEnvironment | undefined
  /** Whose background task this becomes. */
  owner?: OwnerToken | undefined
  /** The mode for this call alone: an approved grant or a session's recorded choice, never a silent default. */
  sandboxMode?: SandboxMode | undefined
  /** The whole policy for this call; outranks `sandboxMode`. */
  sandboxPolicy?: SandboxExecutionPolicy | undefined
}

/** A request with every choice made. `run()` and `start()` read this and no configuration. */
export interface BashExecSpec {
  command: string
  /** Absolute. */
  workdir: string
  /** Milliseconds, already capped. Background processes have no timeout and ignore it. */
  timeoutMs: number
  /** Bytes of stdout kept in a foreground run; stderr and background reads keep the executor's own cap. */
  stdoutMaxBytes: number
  signal?: AbortSignal | undefined
  stdin?: string | undefined
  env?: Record<string, string> | undefined
  dshEnv?: DshEnvironment | undefined
  /** Required, so that an owner that was forgotten shows as `undefined`. */
  owner: OwnerToken | undefined
  /**
   * The mode that the call runs under. A sandboxing executor always states it; `undefined` comes only from an executor
   * that confines nothing.
   */
  sandboxMode: SandboxMode | undefined
  /** The policy that the call runs under; its mode equals `sandboxMode`. */
  sandboxPolicy: SandboxExecutionPolicy | undefined
}
