import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { hostPaths } from './path-facts.ts'

const { couldWrite, physicalPath } = hostPaths
let scratch: string

beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-test-paths-'))
})
afterEach(() => rmSync(scratch, { recursive: true }))

it('what exists and what could be made can be written', () => {
  writeFileSync(join(scratch, 'file'), '')
  expect(couldWrite(join(scratch, 'file'))).toBe(true)
  expect(couldWrite(join(scratch, 'a/b/c'))).toBe(true)
  expect(couldWrite(scratch)).toBe(true)
})

it('a file without its write bit cannot, but by root', () => {
  writeFileSync(join(scratch, 'file'), '')
  chmodSync(join(scratch, 'file'), 0o444)
  expect(couldWrite(join(scratch, 'file'))).toBe(process.getuid?.() === 0)
  expect(couldWrite('/etc/shadow')).toBe(process.getuid?.() === 0)
})

it('what no file system takes cannot', () => {
  expect(couldWrite('/proc/version')).toBe(process.getuid?.() === 0)
  expect(couldWrite('/sys/kernel/nothing')).toBe(process.getuid?.() === 0)
})

it('what is longer than a path may be is none', () => {
  const long = `/${'a/'.repeat(50_000)}`
  expect(couldWrite(long)).toBe(false)
  expect(physicalPath(long)).toBe(long)
})

it('links lead to where they point, the dangling one among them', () => {
  mkdirSync(join(scratch, 'real'))
  symlinkSync('real', join(scratch, 'link'))
  symlinkSync('real/new', join(scratch, 'dangling'))
  symlinkSync('loop', join(scratch, 'loop'))
  expect(physicalPath(join(scratch, 'link/a/b'))).toBe(join(scratch, 'real/a/b'))
  expect(physicalPath(join(scratch, 'dangling'))).toBe(join(scratch, 'real/new'))
  expect(physicalPath(join(scratch, 'loop'))).toBe(join(scratch, 'loop'))
  expect(physicalPath('/')).toBe('/')
})
