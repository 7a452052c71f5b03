/** A background process: no id, no owner, no timeout. */

import type { BashSandboxInfo } from './result.ts'

/** Settled once: `killed` when a signal ended it or `kill()` was called or it never started, else `completed`. */
export type BashProcessStatus = 'running' | 'completed' | 'killed'

/** What came since the last read. */
export interface BashProcessRead {
  /** New stdout, then new stderr under a `[stderr]` line. Never ends inside a UTF-8 character while running. */
  delta: string
  /** True when bytes were dropped that no read delivered. */
  lossy: boolean
  /** A private file with all of stdout, when bytes were dropped and the file is complete so far. */
  stdoutSpillPath?: string
  /** The same for stderr. */
  stderrSpillPath?: string
}

/** A running or settled background process. */
export interface BashProcess {
  readonly status: BashProcessStatus
  /** Null while running and after a signal. */
  readonly exitCode: number | null
  /** The signal that ended it. */
  readonly signal: NodeJS.Signals | null
  /** Processes still running when it had ended, which were ended then. 0: known to be none; absent: not known, or not yet. */
  readonly leftover?: number
  /** Resolves when the process and its output are done. Never rejects: a failed start settles as `killed`. */
  readonly done: Promise<void>
  /** Stamped before `done` resolves when the process ran confined. */
  readonly sandbox?: BashSandboxInfo
  /** Takes what came since the last read. Still answers after the end; each byte is delivered once. */
  readOutput(): BashProcessRead
  /** Ends the process and its group: TERM, then KILL after the grace. False when it had already ended. */
  kill(): boolean
}
