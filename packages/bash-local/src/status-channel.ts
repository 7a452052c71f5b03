/**
 * What a runner says about itself and the command's end on its own descriptor, as opposed to what the command prints:
 * `ready` or `failed STEP ERRNO PATH`, and in the end `left N`, where N processes had to be ended, and `exited N` or
 * `signaled N`, a line each.
 */

import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import type { Exit } from './spawn.ts'

/** A runner writes few short lines; whatever is longer did not come from one. */
export const MAX_STATUS_BYTES = 4_096

export interface StatusChannel {
  /** Takes the channel to its end. Never rejects. */
  consume(stream: Readable): Promise<void>
  /** What came so far, its first {@link MAX_STATUS_BYTES} bytes. */
  text(): string
}

export function createStatusChannel(): StatusChannel {
  const chunks: Buffer[] = []
  let size = 0
  return {
    async consume(stream) {
      try {
        for await (const chunk of stream) {
          const kept: Buffer = chunk.subarray(0, MAX_STATUS_BYTES - size)
          if (kept.length > 0) chunks.push(kept)
          size += kept.length
        }
      } catch {
        // Destroyed at the end of the drain, or reset by a runner that died: what came is what there is.
      }
    },
    text: () => Buffer.concat(chunks).toString('utf8'),
  }
}

/** True once the runner has handed over to the command. */
export function saysReady(text: string): boolean {
  return /^ready$/m.test(text)
}

/** How the command ended, as its own parent saw it. Other runners in between turn a signal into a status. */
export function reportedExit(text: string): Exit | undefined {
  const [, how, number] = /^(exited|signaled) (\d+)$/m.exec(text) ?? []
  if (how === undefined) return undefined
  return how === 'exited' ? { exitCode: Number(number), signal: null } : signalExit(Number(number))
}

/**
 * How many processes were there when the command had ended, and were ended by the runner. A runner that tells the end
 * tells of them before that, unless there are none. Undefined: the end was not told.
 */
export function reportedLeftover(text: string): number | undefined {
  const [told, number = '0'] = /^(?:left ([1-9]\d{0,8})\n)?(?:exited|signaled) \d+$/m.exec(text) ?? []
  return told === undefined ? undefined : Number(number)
}

/** Real-time signals have no name here: their death is told as a shell tells it. */
function signalExit(number: number): Exit {
  const entry = Object.entries(constants.signals).find(([, value]) => value === number)
  if (entry === undefined) return { exitCode: 128 + number, signal: null }
  // The keys of os.constants.signals are the signal names; Object.entries() widens them to string.
  return { exitCode: null, signal: entry[0] as NodeJS.Signals }
}
