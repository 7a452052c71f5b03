import { readFileSync, statSync } from 'node:fs'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { createCollector } from './collect.ts'
import type { SpillFile } from './spill.ts'
import { eventually, plain, scratchFolder, scratchRunner } from './testing/scratch.ts'

const noSpill: SpillFile = {
  write: () => Promise.resolve(),
  close: () => Promise.resolve(),
  discard: () => Promise.resolve(),
  path: () => undefined,
}

async function collectedFrom(bytes: Buffer, maxBytes: number) {
  const collector = createCollector(maxBytes, noSpill)
  await collector.consume(Readable.from([bytes]))
  return collector.collected()
}

describe('the tail of a stream', () => {
  it.each([
    ['exactly the cap', 'abcé', 5, 'abcé', false],
    ['one byte more', 'abcé', 4, 'bcé', true],
    ['a cut inside two bytes', 'éab', 3, 'ab', true],
    ['a cut inside three bytes', '€ab', 4, 'ab', true],
    ['a cut inside four bytes', '😀ab', 5, 'ab', true],
    ['a cap inside the only character', '😀', 2, '', true],
    ['a cap of one', 'ab', 1, 'b', true],
  ])('%s', async (_, text, cap, kept, truncated) => {
    expect(await collectedFrom(Buffer.from(text), cap)).toEqual({ text: kept, truncated })
  })

  it('shows bytes that are no text as U+FFFD, and keeps NUL', async () => {
    expect(await collectedFrom(Buffer.from([0x61, 0, 0xff, 0xe2, 0x82]), 10)).toEqual({
      text: 'a\0\ufffd\ufffd',
      truncated: false,
    })
  })
})

describe('incremental reads', () => {
  const feed = () => {
    const stream = new Readable({ read() {} })
    const collector = createCollector(8, noSpill)
    const consumed = collector.consume(stream)
    return { stream, collector, consumed }
  }
  const taken = (stream: Readable) => eventually('the stream empty', () => stream.readableLength === 0)

  it('never part a character and deliver each byte once', async () => {
    const { stream, collector, consumed } = feed()
    const deltas: string[] = []
    for (const byte of Buffer.from('aé€😀')) {
      stream.push(Buffer.from([byte]))
      await taken(stream)
      deltas.push(collector.read().text)
    }
    stream.push(null)
    await consumed
    expect(deltas).toEqual(['a', '', 'é', '', '', '€', '', '', '', '😀'])
    expect(collector.read()).toEqual({ text: '', lossy: false, spillPath: undefined })
  })

  it('give an unfinished character up at the end', async () => {
    const { stream, collector, consumed } = feed()
    stream.push(Buffer.from([0x61, 0xe2, 0x82]))
    await taken(stream)
    expect(collector.read().text).toBe('a')
    stream.push(null)
    await consumed
    expect(collector.read().text).toBe('\ufffd')
    expect(collector.read().text).toBe('')
  })

  it('say when bytes were dropped that nobody read, and only then', async () => {
    const { stream, collector } = feed()
    stream.push('12345678')
    await taken(stream)
    expect(collector.read()).toMatchObject({ text: '12345678', lossy: false })
    stream.push('abcdefgh')
    await taken(stream)
    expect(collector.read()).toMatchObject({ text: 'abcdefgh', lossy: false })
    stream.push('é-1234567')
    await taken(stream)
    expect(collector.read()).toMatchObject({ text: '-1234567', lossy: true })
    stream.destroy()
  })
})

describe('back-pressure', () => {
  it('leaves the stream alone while the spill is being written', async () => {
    let finishWrite = () => {}
    const slow: SpillFile = { ...noSpill, write: () => new Promise((resolve) => (finishWrite = resolve)) }
    let pulled = 0
    const chunk = Buffer.alloc(65_536)
    const stream = new Readable({
      highWaterMark: 65_536,
      read() {
        pulled += 1
        this.push(pulled > 1_000 ? null : chunk)
      },
    })
    const collector = createCollector(10, slow)
    const consumed = collector.consume(stream)
    await eventually('the first spill write', () => pulled > 0)
    for (let turn = 0; turn < 50; turn += 1) await new Promise(setImmediate)
    expect(pulled).toBeLessThanOrEqual(3)
    stream.destroy()
    finishWrite()
    await consumed
  })
})

describe('commands that print much', () => {
  it('keep the tail, and all of it in a private file', async () => {
    const spillParent = await scratchFolder()
    const runner = scratchRunner({ maxOutputBytes: 1_000, spillParent })
    const line = 'x'.repeat(1_000_000)
    const ended = await runner.run(plain(runner, `head -c 1000000 /dev/zero | tr '\\0' x; echo end >&2`))
    expect(ended.stdout.truncated).toBe(true)
    expect(ended.stdout.text).toBe(line.slice(0, 1_000))
    expect(ended.stderr).toEqual({ text: 'end\n', truncated: false })
    const path = ended.stdout.spillPath ?? ''
    expect(readFileSync(path, 'utf8')).toBe(line)
    expect(statSync(path).mode & 0o777).toBe(0o600)
  })

  it('are given a budget for stdout alone', async () => {
    const runner = scratchRunner({ maxOutputBytes: 10, spillParent: await scratchFolder() })
    const command = 'printf 0123456789abcdef; printf 0123456789abcdef >&2'
    const ended = await runner.run(plain(runner, { command, stdoutMaxBytes: 16 }))
    expect(ended.stdout).toEqual({ text: '0123456789abcdef', truncated: false })
    expect(ended.stderr).toMatchObject({ text: '6789abcdef', truncated: true })
  })
})
