import { PassThrough, Readable, Writable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { OutputError, write } from './output.ts'
import { readAll, StdinError } from './stdin.ts'

const never = new AbortController().signal
const ignore = (): void => undefined

describe('standard input', () => {
  it('is handed on byte for byte, a byte order mark and split characters included', async () => {
    const bytes = Buffer.from('\ufeffäé\0\n')
    const stream = Readable.from([bytes.subarray(0, 4), bytes.subarray(4)])
    expect(Buffer.from(await readAll(stream, never, ignore))).toStrictEqual(bytes)
  })

  it('that is not UTF-8 is refused', async () => {
    await expect(readAll(Readable.from([Buffer.of(0xff)]), never, ignore)).rejects.toThrow(
      new StdinError('standard input is not UTF-8 text, and --json hands on text only; leave --json out'),
    )
  })

  it('that never ends gives way to a signal', async () => {
    const controller = new AbortController()
    const read = readAll(new PassThrough(), controller.signal, ignore)
    controller.abort(new Error('ended by SIGTERM'))
    await expect(read).rejects.toThrow('ended by SIGTERM')
  })
})

describe('output', () => {
  const failing = (code: string): Writable =>
    new Writable({ write: (_chunk, _encoding, done) => done(Object.assign(new Error(code), { code })) })

  it('to a reader that left is nobody’s error', async () => {
    expect(await write(failing('EPIPE'), 'x')).toBeUndefined()
  })

  it('to a full disk is lost, and says so', async () => {
    await expect(write(failing('ENOSPC'), 'x')).rejects.toThrow(
      new OutputError('output could not be written (ENOSPC)'),
    )
  })
})
