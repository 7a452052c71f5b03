import { describe, expect, it } from 'vitest'
import { orphanedBytes, unfinishedBytes } from './utf8.ts'

const text = 'aé€😀'

describe('unfinishedBytes', () => {
  it.each([
    ['', 0],
    ['a', 0],
    ['é', 0],
    ['€', 0],
    ['😀', 0],
  ])('a whole %j has none', (whole, count) => {
    expect(unfinishedBytes(Buffer.from(whole))).toBe(count)
  })

  it('counts what came of a character at every cut', () => {
    const bytes = Buffer.from(text)
    const counts = Array.from(bytes, (_, end) => unfinishedBytes(bytes.subarray(0, end)))
    expect(counts).toEqual([0, 0, 1, 0, 1, 2, 0, 1, 2, 3])
  })

  it.each([
    ['a lone continuation', [0x80]],
    ['four continuations', [0x80, 0x80, 0x80, 0x80]],
    ['an overlong lead', [0xc0]],
    ['a lead past the last plane', [0xf5]],
  ])('does not wait after %s', (_, bytes) => {
    expect(unfinishedBytes(Buffer.from(bytes))).toBe(0)
  })
})

describe('orphanedBytes', () => {
  it('counts the rest of a character at every cut', () => {
    const bytes = Buffer.from(text)
    const counts = Array.from(bytes, (_, start) => orphanedBytes(bytes.subarray(start)))
    expect(counts).toEqual([0, 0, 1, 0, 2, 1, 0, 3, 2, 1])
  })

  it('never takes more than a character can have', () => {
    expect(orphanedBytes(Buffer.alloc(9, 0x80))).toBe(3)
  })
})
