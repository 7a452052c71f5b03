/** Writing to our own standard streams, where the reader may be gone and the disk may be full. */

import type { Writable } from 'node:stream'

/** A report could not be written, and the reader did not simply leave. */
export class OutputError extends Error {
  override readonly name = 'OutputError'
}

/**
 * Writes all of `text` and resolves once the stream has taken it. A reader that went away (EPIPE) wants no more, and
 * that is its right.
 * @throws {OutputError} any other failure: what was asked for is lost.
 */
export function write(stream: Writable, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    // The stream also emits the error it hands to the callback; unheard, it would end the process.
    stream.once('error', () => undefined)
    stream.write(text, (error) => {
      if (error === null || error === undefined || codeOf(error) === 'EPIPE') resolve()
      else reject(new OutputError(`output could not be written (${codeOf(error)})`, { cause: error }))
    })
  })
}

function codeOf(error: Error): string {
  return 'code' in error ? String(error.code) : error.message
}
