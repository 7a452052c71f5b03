/** How one step of a case ended, with or without a sandbox. */

import type { BashSandboxInfo } from 'dsh-bash'

export interface Ending {
  /** Null after a signal, and when nothing ran. */
  readonly exit: number | null
  readonly signal: string | null
  readonly stdout: string
  readonly stderr: string
  readonly sandbox?: BashSandboxInfo | undefined
  /** Why nothing ran. */
  readonly error?: Error | undefined
}

/** The ending of a step that an error kept from running. */
export function refusedEnding(error: Error): Ending {
  return { exit: null, signal: null, stdout: '', stderr: '', error }
}
