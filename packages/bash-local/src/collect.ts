/**
 * One output stream: its tail in memory, all of it in a spill file once it outgrows memory, and incremental reads.
 * Bytes stay bytes until someone asks for text. A stream is not read further while its spill is being written, so a
 * fast command waits instead of filling memory.
 */

import type { Readable } from 'node:stream'
import type { CollectedOutput } from 'dsh-bash'
import type { SpillFile } from './spill.ts'
import { createTail } from './tail.ts'
import { orphanedBytes, unfinishedBytes } from './utf8.ts'

/** What came since the last read of one stream. */
export interface StreamRead {
  readonly text: string
  /** True when bytes were dropped that no read delivered. */
  readonly lossy: boolean
  readonly spillPath: string | undefined
}

export interface Collector {
  /** Takes the stream to its end, then closes the spill. Never rejects. */
  consume(stream: Readable): Promise<void>
  /** The stream will not be read to its end, so its spill file is no complete stream: withdraws it. */
  cut(): void
  /** Everything kept. Asked once the stream is done. */
  collected(): CollectedOutput
  /** Takes what is new. */
  read(): StreamRead
}

export function createCollector(maxBytes: number, spill: SpillFile): Collector {
  const tail = createTail(maxBytes)
  let done = false
  let readOffset = 0

  const take = async (chunk: Buffer): Promise<void> => {
    const overflows = tail.total + chunk.length > tail.capacity
    // At the first overflow all that came before is still in memory, and goes ahead of the chunk.
    const before = overflows && tail.start === 0 ? tail.from(0) : undefined
    tail.append(chunk)
    if (before !== undefined && before.length > 0) await spill.write(before)
    if (overflows) await spill.write(chunk)
  }

  return {
    async consume(stream) {
      try {
        for await (const chunk of stream) await take(chunk)
        await spill.close()
      } catch {
        // The pipe broke or was destroyed at the end of the drain: what came is what there is.
        await spill.discard()
      }
      done = true
    },
    cut() {
      done = true
      void spill.discard()
    },
    collected() {
      const truncated = tail.start > 0
      const path = truncated ? spill.path() : undefined
      const text = textAfterDrop(tail.from(tail.start), truncated)
      return path === undefined ? { text, truncated } : { text, truncated, spillPath: path }
    },
    read() {
      const lossy = readOffset < tail.start
      const bytes = tail.from(Math.max(readOffset, tail.start))
      const whole = done ? bytes : bytes.subarray(0, bytes.length - unfinishedBytes(bytes))
      readOffset = tail.total - (bytes.length - whole.length)
      return {
        text: textAfterDrop(whole, lossy),
        lossy,
        spillPath: tail.start > 0 ? spill.path() : undefined,
      }
    },
  }
}

/** The text of bytes; after a drop the first character may have lost its front, and its rest is no text. */
function textAfterDrop(bytes: Buffer, dropped: boolean): string {
  return bytes.toString('utf8', dropped ? orphanedBytes(bytes) : 0)
}
