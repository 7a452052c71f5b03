import { describe, expect, it } from 'vitest'
import { createTail } from './tail.ts'

/** Every way of cutting `text` into chunks of `size`. */
function chunks(text: string, size: number): Buffer[] {
  const bytes = Buffer.from(text)
  return Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.subarray(index * size, (index + 1) * size),
  )
}

describe('a tail', () => {
  const alphabet = 'abcdefghijklmnopqrstuvwxyz'.repeat(400)

  it.each([1, 3, 7, 4_095, 4_096, 4_097, 10_399, 10_400, 10_401])(
    'of %d bytes keeps exactly the last',
    (cap) => {
      for (const size of [1, 5, 4_096, 10_400]) {
        const tail = createTail(cap)
        for (const chunk of chunks(alphabet, size)) tail.append(chunk)
        expect(tail.total).toBe(10_400)
        expect(tail.start).toBe(Math.max(0, 10_400 - cap))
        expect(tail.from(tail.start).toString()).toBe(alphabet.slice(tail.start))
        expect(tail.from(10_399).toString()).toBe('z')
        expect(tail.from(10_400).length).toBe(0)
      }
    },
  )

  it('rounds a broken byte up', () => {
    const tail = createTail(0.5)
    tail.append(Buffer.from('ab'))
    expect(tail.from(tail.start).toString()).toBe('b')
  })

  it('is empty before the first byte', () => {
    expect(createTail(10).from(0).length).toBe(0)
  })
})
