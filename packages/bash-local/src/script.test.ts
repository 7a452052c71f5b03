import { describe, expect, it } from 'vitest'
import { bashArgv } from './script.ts'
import { plain, scratchRunner } from './testing/scratch.ts'

/** The longest single argument, its NUL included, in bytes. Source: execve(2), MAX_ARG_STRLEN. */
const MAX_ARG_BYTES = 131_072

describe('a short script', () => {
  it('is one argument', () => {
    expect(bashArgv('echo hi')).toEqual(['bash', '-c', 'echo hi'])
  })
})

describe('a script of 1 MiB', () => {
  // One odd unit in front, so that pieces would end inside the surrogate pairs.
  const long = (body: string) => `#${'😀'.repeat(262_000)}\n${body}`

  it('travels in arguments that the kernel takes and that part no character', () => {
    const argv = bashArgv(long(''))
    expect(argv.slice(0, 2)).toEqual(['bash', '-c'])
    expect(argv.every((argument) => Buffer.byteLength(argument) < MAX_ARG_BYTES)).toBe(true)
    expect(argv.slice(4).join('')).toBe(long(''))
    expect(argv.slice(4).every((piece) => Buffer.from(piece).toString() === piece)).toBe(true)
  })

  it('sees what it would see after -c', async () => {
    const runner = scratchRunner()
    const script = 'echo "$0 $# $LINENO"; x=\'a  "b" $c\'; printf "%s" "$x"; exit 7'
    const ended = await runner.run(plain(runner, long(script)))
    expect(ended).toMatchObject({
      exitCode: 7,
      stdout: { text: 'bash 0 2\na  "b" $c' },
      stderr: { text: '' },
    })
  })
})

describe('a script past the limit of all arguments', () => {
  it('fails that call alone, with the errno', async () => {
    const runner = scratchRunner()
    const command = plain(runner, `#${'x'.repeat(8_000_000)}`)
    await expect(runner.run(command)).rejects.toMatchObject({ code: 'E2BIG' })
    expect(await runner.run(plain(runner, 'echo ok'))).toMatchObject({ stdout: { text: 'ok\n' } })
  })
})
