/** From an error to one line and an exit status. Pure. What a user can cause never shows a stack. */

import { BashWorkdirError } from 'dsh-bash'
import { SandboxPolicyError, SandboxUnavailableError } from 'dsh-sandbox'
import { ProfileError } from 'dsh-sandbox-profiles'
import { UsageError } from './arguments.ts'
import { NOT_EXECUTABLE, NOT_FOUND, NOT_RUN, OUTPUT_LOST, USAGE } from './exit-status.ts'
import { OutputError } from './output.ts'
import { StdinError } from './stdin.ts'

/** Why nothing was run, or why its report is lost. */
export interface Fault {
  readonly status: number
  /** For the one line on standard error. */
  readonly text: string
  /** The error's own code where it has a stable one, for `--json`. */
  readonly code: string
}

/** Undefined for what is nobody's mistake but ours; that may well show its stack. */
export function faultOf(error: unknown): Fault | undefined {
  if (error instanceof UsageError) return { status: USAGE, text: error.message, code: 'USAGE' }
  if (error instanceof ProfileError) return { status: USAGE, text: error.message, code: error.code }
  if (error instanceof OutputError) return { status: OUTPUT_LOST, text: error.message, code: 'OUTPUT_LOST' }
  if (error instanceof StdinError) return { status: NOT_RUN, text: error.message, code: 'STDIN_UNUSABLE' }
  if (error instanceof SandboxUnavailableError)
    return { status: NOT_RUN, text: unavailable(error), code: error.code }
  if (error instanceof SandboxPolicyError) return { status: NOT_RUN, text: error.message, code: error.code }
  if (error instanceof BashWorkdirError) return { status: NOT_RUN, text: error.message, code: error.code }
  return systemFault(error)
}

function unavailable(error: SandboxUnavailableError): string {
  const why = error.detail === undefined ? '' : ` (${error.detail})`
  return `no sandbox backend can enforce ${error.mode} here; the command was not run${why}; see dsh-sandbox doctor`
}

/** What a failed spawn of the command itself means; the launcher exits with the same when it is the one to execute it. */
const SPAWN_STATUS: Readonly<Record<string, number>> = { ENOENT: NOT_FOUND, EACCES: NOT_EXECUTABLE }

/** The system refused something on the way: no such program, no descriptors, a directory that vanished. */
function systemFault(error: unknown): Fault | undefined {
  if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) return undefined
  const code = String(error.code)
  const status = String(error.syscall).startsWith('spawn') ? SPAWN_STATUS[code] : undefined
  return { status: status ?? NOT_RUN, text: `the command could not be run: ${error.message}`, code }
}
