/** The exit statuses of the command, and which one tells of which end. Pure. */

import { constants } from 'node:os'
import type { BashRunResult } from 'dsh-bash'

/** The report of a run or of the doctor could not be written. */
export const OUTPUT_LOST = 1
/** The command line or a profile is at fault; nothing was run. The usual status for it. */
export const USAGE = 2
/** The time limit came first, whatever the command then did. As timeout(1) has it. */
export const TIMED_OUT = 124
/** The command was not run: no backend, a refused policy, a missing workspace. As timeout(1) and env(1) have it. */
export const NOT_RUN = 125
/** The program was found and cannot be executed. As env(1) and shells have it. */
export const NOT_EXECUTABLE = 126
/** There is no such program. */
export const NOT_FOUND = 127

export const EXIT_STATUS_HELP = `
Exit status of run: the command's own (128+N when signal N ended it), and
  ${TIMED_OUT}  the time limit came first, whatever the command did then
  ${NOT_RUN}  the command was not run: no usable backend, a refused workspace or policy
  ${NOT_EXECUTABLE}  the program cannot be executed
  ${NOT_FOUND}  there is no such program
  ${USAGE}    the command line or the profile is at fault; nothing was run
A command may exit with these too; standard error then has no line that starts with "dsh-sandbox: ".
SIGINT, SIGTERM and SIGHUP (N) end the command, TERM first, then KILL; the exit status is 128+N.`

/** How a command ended, as far as its exit status goes. */
export type CommandEnd = Pick<BashRunResult, 'exitCode' | 'signal' | 'timedOut' | 'aborted'>

/** The exit status for `end`; `received` is the signal that made the caller abort, if one did. */
export function exitStatus(end: CommandEnd, received: NodeJS.Signals | undefined): number {
  if (end.aborted && received !== undefined) return signalStatus(received)
  if (end.timedOut) return TIMED_OUT
  if (end.signal !== null) return signalStatus(end.signal)
  if (end.exitCode !== null) return end.exitCode
  throw new Error('a command ended with neither an exit status nor a signal')
}

/** What a shell reports for a death by `signal`. */
export function signalStatus(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal]
}
