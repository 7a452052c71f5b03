/** The last word of a program that failed. */

import { NOT_RUN } from './exit-status.ts'
import { faultOf } from './faults.ts'
import { write } from './output.ts'
import { message } from './report.ts'

/** The user's mistakes get one line on standard error; ours show where they are. Resolves with the exit status. */
export async function complain(error: unknown): Promise<number> {
  const fault = faultOf(error)
  const text = fault === undefined ? stackOf(error) : message(fault.text)
  try {
    await write(process.stderr, text)
  } catch {
    // Only OutputError comes out of write(), and standard error was the last place to tell of it.
  }
  return fault?.status ?? NOT_RUN
}

function stackOf(error: unknown): string {
  return `${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`
}
