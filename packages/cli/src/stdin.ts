/**
 * Standard input for `run --json`, where the command gets a copy and not the stream itself. A pipe, a socket or a file
 * is read to its end before the command starts; a terminal or a device such as `/dev/null` is not read at all.
 */

import { fstatSync } from 'node:fs'
import type { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'

/** After this long without an end of input, in milliseconds, someone may wonder why nothing happens. */
const PATIENCE_MS = 3000

/** Standard input cannot be handed on; nothing was run. */
export class StdinError extends Error {
  override readonly name = 'StdinError'
}

/** True when descriptor 0 carries data that has an end. */
export function stdinHasData(): boolean {
  const entry = fstatSync(0)
  return entry.isFIFO() || entry.isSocket() || entry.isFile()
}

/**
 * All of `stream` as text. `onWait` is called once when the end takes its time.
 * @throws {StdinError} not UTF-8 (it would reach the command changed), or unreadable.
 * @throws the reason of `signal` when that fires first.
 */
export async function readAll(stream: Readable, signal: AbortSignal, onWait: () => void): Promise<string> {
  const wait = setTimeout(onWait, PATIENCE_MS)
  const stop = (): void => void stream.destroy()
  signal.addEventListener('abort', stop)
  try {
    return exactText(await buffer(stream))
  } catch (cause) {
    signal.throwIfAborted()
    throw cause instanceof StdinError ? cause : new StdinError('standard input cannot be read', { cause })
  } finally {
    clearTimeout(wait)
    signal.removeEventListener('abort', stop)
  }
}

/** Pure: the text whose UTF-8 form is `bytes`, byte for byte. */
function exactText(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch (cause) {
    throw new StdinError(
      'standard input is not UTF-8 text, and --json hands on text only; leave --json out',
      { cause },
    )
  }
}
