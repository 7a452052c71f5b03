/** What a runner says about itself on its own descriptor, as opposed to what the command prints. */

import type { Readable } from 'node:stream'

/** A runner writes one short line; whatever is longer did not come from one. */
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
