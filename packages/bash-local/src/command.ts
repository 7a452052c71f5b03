/** The values around a spawn: a command that is ready to run, and how it ended before anyone has judged it. */

import { inspect } from 'node:util'
import type { BashExecSpec, BashRunResult, BashSandboxInfo, CollectedOutput } from 'dsh-bash'

/** The one descriptor on which a runner may report. */
export const STATUS_FD = 3

/** One command ready to spawn: the argv may be confined already, the environment is complete. */
export interface RunnableCommand {
  /** Run as it is. A bare program name is looked up in the PATH of `env`. */
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** `workdir`, `timeoutMs`, `stdoutMaxBytes`, `signal` and `stdin` are read from here, nothing else. */
  readonly spec: BashExecSpec
  /** Always {@link STATUS_FD}: the descriptor on which the runner reports. Absent: no such pipe is opened. */
  readonly statusFd?: number | undefined
  /**
   * Judges a settled background process; the answer is stamped before `done` resolves. Must not throw; if it does, the
   * process settles without an answer. Not asked in the foreground.
   */
  readonly judge?: ((ended: EndedCommand) => BashSandboxInfo | undefined) | undefined
}

/** How a command ended that used our own stdio. */
export interface PassedCommand {
  /** Null after a signal. */
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly timedOut: boolean
  readonly aborted: boolean
  /** True when `kill()` or disposal came first; then neither of the two above is. */
  readonly killed: boolean
  /** The timeout that applied, in milliseconds. A background process has none; it carries the one of its spec. */
  readonly timeoutMs: number
  /** All text that came on the status descriptor, its first 4 KiB; undefined when no `statusFd` was asked for. */
  readonly statusText: string | undefined
  /** Processes that the runner had to end after the command; undefined where none told. */
  readonly leftover: number | undefined
}

/** How a spawned command ended, before any verdict. */
export interface EndedCommand extends PassedCommand {
  readonly stdout: CollectedOutput
  readonly stderr: CollectedOutput
  /** Present when nothing was spawned; then every other field is empty. */
  readonly spawnError?: NodeJS.ErrnoException
}

/** The result of a command that nobody has to judge. */
export function runResult(ended: EndedCommand): BashRunResult {
  const { exitCode, signal, timedOut, aborted, timeoutMs, stdout, stderr, leftover } = ended
  const result = { exitCode, signal, timedOut, aborted, timeoutMs, stdout, stderr }
  return leftover === undefined ? result : { ...result, leftover }
}

/** The caller's signal had fired before the spawn; nothing ran. `cause` is the caller's own reason. */
export class AbortedBeforeSpawnError extends Error {
  override readonly name = 'AbortError'
  readonly code = 'ABORT_ERR'

  constructor(reason: unknown) {
    super(`aborted before spawn: ${reasonText(reason)}`, { cause: reason })
  }
}

function reasonText(reason: unknown): string {
  if (reason instanceof Error) return reason.message
  return typeof reason === 'string' ? reason : inspect(reason)
}

/** @throws {TypeError} a command that its maker got wrong. */
export function checkRunnable(command: RunnableCommand): void {
  if (command.argv[0] === undefined || command.argv[0] === '') throw new TypeError('argv must name a program')
  if (command.statusFd !== undefined && command.statusFd !== STATUS_FD) {
    throw new TypeError(`statusFd must be ${STATUS_FD}, not ${command.statusFd}`)
  }
}
