/** How a command ended. Every fact has its own field; none of them is derived from another. */

import type { SandboxBackend, SandboxEffects, SandboxEnforcement, SandboxMode } from 'dsh-sandbox'

/** One stream as it was kept. */
export interface CollectedOutput {
  /** The text, or its tail when `truncated`. Bytes that are not UTF-8 show as U+FFFD. */
  text: string
  /** True when bytes were dropped from `text`. */
  truncated: boolean
  /** A private file with the COMPLETE stream. Present only when truncated, complete and safely written. */
  spillPath?: string
}

/** How a foreground command ended. */
export interface BashRunResult {
  /** Null when a signal ended the process. */
  exitCode: number | null
  /** The signal that ended the process, as `SIGTERM`; null on a normal exit. */
  signal: NodeJS.Signals | null
  /** True when the executor's own timeout came first. The command may still have exited 0. */
  timedOut: boolean
  /** True when the caller's signal came first. Never together with `timedOut`: the first cause stands. */
  aborted: boolean
  /** The timeout that applied, in milliseconds. */
  timeoutMs: number
  stdout: CollectedOutput
  stderr: CollectedOutput
  /** Processes still running when the command had ended, which were ended then. 0: known to be none; absent: not known. */
  leftover?: number
  /** Present exactly when a sandboxing executor ran the command. */
  sandbox?: BashSandboxInfo
}

/** What is known of a denied file operation. */
export interface BashDenial {
  /** The path as the command's own message spells it, made absolute; absent when the message names none. */
  path?: string
  /** What was tried, where the message says it: `open`, `mkdir`, `rename`. */
  operation?: string
  /** Where the knowledge comes from. `stderr` words can be imitated by the command. */
  source: 'stderr'
  /** `high`: the line names a path that the policy does not open. `low`: the words stand alone. */
  confidence: 'high' | 'low'
  /** A way out that needs no wider mode, in words for a person. */
  advice?: string
}

/** Sandbox facts of one command. */
export interface BashSandboxInfo {
  /** The mode that the command ran under. */
  mode: SandboxMode
  /**
   * True when the failure is put down to the sandbox: a failed exit (never 0, never a signal) whose kept stderr carries
   * the backend's own words about something that the policy closes. In doubt it is false.
   */
  denied: boolean
  /** How completely the mode was enforced. Absent exactly under `danger-full-access`. */
  enforcement?: SandboxEnforcement
  /** Present exactly when `denied`. */
  denial?: BashDenial
  /** Which backend confined. Absent under `danger-full-access` and from providers that do not say. */
  backend?: SandboxBackend
  /** A word per effect, where the provider states them. */
  effects?: SandboxEffects
  /**
   * True: the sandbox runner itself failed and the command NEVER RAN. Outranks `denied`. Only on settled background
   * processes; a foreground run throws {@link SandboxUnavailableError} instead.
   */
  runnerFailed?: boolean
}
