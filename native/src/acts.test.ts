/** `landlock-run --try`: each act does what its name says, and says so. What confinements make of them is tested with them. */

import { spawnSync } from 'node:child_process'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { LAUNCHER, skipWithout } from '../test/needs.ts'
import { LAUNCHER_OPTIONS } from './launcher.ts'

const ENOENT = 2

let scratch: string
const at = (name: string) => join(scratch, name)

beforeEach(({ skip }) => {
  skipWithout(skip, 'the launcher')
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-acts-'))
})
afterEach(() => rmSync(scratch, { recursive: true, force: true }))

function tryActs(...words: readonly string[]) {
  const { status, stdout, stderr } = spawnSync(LAUNCHER, [LAUNCHER_OPTIONS.tryActs, ...words], {
    encoding: 'utf8',
  })
  return { status, stdout, stderr }
}

const worked = (act: string) => ({ status: 0, stdout: `${act} 0\n`, stderr: '' })

describe('an act on a path', () => {
  it.each<[string, 'file' | 'directory' | 'nothing', (path: string) => boolean]>([
    ['write', 'file', (path) => statSync(path).size === 5],
    ['create', 'nothing', (path) => lstatSync(path).isFile()],
    ['mkdir', 'nothing', (path) => lstatSync(path).isDirectory()],
    ['symlink', 'nothing', (path) => lstatSync(path).isSymbolicLink()],
    ['link', 'file', (path) => statSync(`${path}.linked`).ino === statSync(path).ino],
    ['chown', 'file', (path) => statSync(path).uid === process.getuid?.()],
    ['unlink', 'file', (path) => !existsSync(path)],
    ['rmdir', 'directory', (path) => !existsSync(path)],
    ['rename', 'file', (path) => !existsSync(path) && existsSync(`${path}.renamed`)],
    ['truncate', 'file', (path) => statSync(path).size === 0],
    ['open-truncate', 'file', (path) => statSync(path).size === 0],
    ['chmod', 'file', (path) => (statSync(path).mode & 0o777) === 0o711],
    ['utimes', 'file', (path) => statSync(path).mtimeMs === 1e12],
    ['mkfifo', 'nothing', (path) => lstatSync(path).isFIFO()],
    ['mksocket', 'nothing', (path) => lstatSync(path).isSocket()],
    ['whiteout', 'nothing', (path) => lstatSync(path).isCharacterDevice()],
    ['read', 'file', (path) => statSync(path).size === 4],
  ])('%s', (act, before, happened) => {
    if (before === 'file') writeFileSync(at('it'), 'old\n', { mode: 0o600 })
    if (before === 'directory') mkdirSync(at('it'))
    expect(tryActs(act, at('it'))).toEqual(worked(act))
    expect(happened(at('it'))).toBe(true)
  })

  it('that is not there fails with its errno, and the next is tried', () => {
    expect(tryActs('unlink', at('nowhere'), 'create', at('new'))).toEqual({
      status: 0,
      stdout: `unlink ${ENOENT}\ncreate 0\n`,
      stderr: '',
    })
    expect(existsSync(at('new'))).toBe(true)
  })

  it('may have a name with spaces and line ends', () => {
    expect(tryActs('create', at('a b\nc'))).toEqual(worked('create'))
    expect(existsSync(at('a b\nc'))).toBe(true)
  })
})

it.each([
  ['ioctl', '/dev/null'],
  ['signal', '+'],
  ['trace', '+'],
  ['see', '+'],
  ['connect-abstract', '+dsh-acts-test'],
  ['tcp', '+'],
  ['udp', '+'],
])('%s works on its own (%s)', (act, subject) => {
  expect(tryActs(act, subject)).toEqual(worked(act))
})

it('connect-path works on a socket of its own, in a directory however deep, and not on a name that is too long', () => {
  expect(tryActs('connect-path', `+${at('sock')}`)).toEqual(worked('connect-path'))
  mkdirSync(at('d'.repeat(200)))
  expect(tryActs('connect-path', `+${at('d'.repeat(200))}/sock`)).toEqual(worked('connect-path'))
  expect(tryActs('connect-path', at('x'.repeat(108))).stdout).toBe('connect-path 36\n')
})

it.each([
  [[]],
  [['write']],
  [['write', '/dev/null', 'create']],
  [['fly', '/']],
  [['write', '/dev/null', 'fly', '/']],
])('a mistake is one line, and nothing was tried (%j)', (words) => {
  const { status, stdout, stderr } = tryActs(...words)
  expect({ status, stdout }).toEqual({ status: 125, stdout: '' })
  expect(stderr).toMatch(/^landlock-run: usage: .*\n$/)
})
