/** The last bytes of a stream in bounded memory, addressed by their offset in the whole stream. */

import { constants } from 'node:buffer'

/** Smallest buffer, in bytes; most commands print less. */
const FIRST_CAPACITY = 4_096

/** A ring of at most `maxBytes` bytes. Exactly `maxBytes` fit: only the next byte drops the first. */
export interface Tail {
  /** The most bytes kept at one time. */
  readonly capacity: number
  /** Bytes taken since the stream began. */
  readonly total: number
  /** Offset of the oldest byte kept. */
  readonly start: number
  append(chunk: Buffer): void
  /** A copy of the kept bytes from `offset` on; `offset` lies in `start..total`. */
  from(offset: number): Buffer
}

/** A longer text cannot be a JavaScript string, and one byte never gives more than one UTF-16 unit. */
function capacityLimit(maxBytes: number): number {
  return Math.min(Math.ceil(maxBytes), constants.MAX_STRING_LENGTH)
}

export function createTail(maxBytes: number): Tail {
  const limit = capacityLimit(maxBytes)
  let ring = Buffer.alloc(0)
  let total = 0

  // Grows only while every byte of the stream is still kept, so nothing has wrapped around yet.
  const grow = (needed: number) => {
    if (ring.length >= limit || needed <= ring.length) return
    const next = Buffer.allocUnsafe(Math.min(limit, Math.max(needed, ring.length * 2, FIRST_CAPACITY)))
    ring.copy(next, 0, 0, total)
    ring = next
  }

  const put = (bytes: Buffer) => {
    const at = total % ring.length
    const head = Math.min(bytes.length, ring.length - at)
    bytes.copy(ring, at, 0, head)
    bytes.copy(ring, 0, head)
    total += bytes.length
  }

  return {
    capacity: limit,
    get total() {
      return total
    },
    get start() {
      return Math.max(0, total - limit)
    },
    append(chunk) {
      if (chunk.length === 0) return
      grow(total + chunk.length)
      const skipped = Math.max(0, chunk.length - ring.length)
      total += skipped
      put(chunk.subarray(skipped))
    },
    from(offset) {
      const bytes = Buffer.allocUnsafe(total - offset)
      if (bytes.length === 0) return bytes
      const at = offset % ring.length
      const head = ring.copy(bytes, 0, at, Math.min(ring.length, at + bytes.length))
      ring.copy(bytes, head, 0, bytes.length - head)
      return bytes
    },
  }
}
