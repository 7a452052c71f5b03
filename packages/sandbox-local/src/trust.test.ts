import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { distrust, type TrustRules } from './trust.ts'

let scratch: string
let program: string
const uid = process.getuid?.() ?? 0

const OURS: TrustRules = { owners: new Set([0, uid]), groups: new Set([0]), untrustedRoots: [] }

beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-test-trust-'))
  mkdirSync(join(scratch, 'bin'), { mode: 0o755 })
  program = join(scratch, 'bin', 'program')
  writeFileSync(program, '#!/bin/sh\n')
  chmodSync(program, 0o755)
})
afterEach(() => rmSync(scratch, { recursive: true }))

describe('what may be run', () => {
  it('a program that only we can change, though it lies below a sticky directory of everyone', () => {
    expect(statSync('/var/tmp').mode & 0o1777).toBe(0o1777)
    expect(distrust(program, OURS)).toBeUndefined()
  })

  it('a program of the system', () => {
    expect(distrust(realpathSync('/bin/sh'), OURS)).toBeUndefined()
  })
})

describe('what may not', () => {
  it('a file that everyone can write', () => {
    chmodSync(program, 0o757)
    expect(distrust(program, OURS)).toBe(`can be changed by every user through ${program}`)
  })

  it('a sticky file that everyone can write: the sticky bit protects entries of directories only', () => {
    chmodSync(program, 0o1757)
    expect(distrust(program, OURS)).toBe(`can be changed by every user through ${program}`)
  })

  it('a file in a directory that everyone can write', () => {
    chmodSync(join(scratch, 'bin'), 0o777)
    expect(distrust(program, OURS)).toBe(`can be changed by every user through ${join(scratch, 'bin')}`)
  })

  it('but a sticky one of these passes', () => {
    chmodSync(join(scratch, 'bin'), 0o1777)
    expect(distrust(program, OURS)).toBeUndefined()
  })

  it('a file that an unknown group can write, and not one of a known group', () => {
    chmodSync(program, 0o775)
    const { gid } = statSync(program)
    expect(distrust(program, { ...OURS, groups: new Set() })).toBe(
      `can be changed by group ${gid} through ${program}`,
    )
    expect(distrust(program, { ...OURS, groups: new Set([gid]) })).toBeUndefined()
  })

  it('a file of another user, directories included', () => {
    expect(distrust(program, { ...OURS, owners: new Set([uid + 1]) })).toBe(
      `can be changed by user ${uid} through ${program}`,
    )
    expect(distrust('/usr', { ...OURS, owners: new Set([uid + 1]) })).toBe(
      'can be changed by user 0 through /usr',
    )
  })

  it('anything in an untrusted root, the root itself included', () => {
    const words = `lies in ${scratch}, which a command may be able to write`
    expect(distrust(program, { ...OURS, untrustedRoots: ['/nowhere', scratch] })).toBe(words)
    expect(distrust(scratch, { ...OURS, untrustedRoots: [scratch] })).toBe(words)
  })

  it('but a sibling whose name begins the same', () => {
    expect(distrust(program, { ...OURS, untrustedRoots: [join(scratch, 'bi')] })).toBeUndefined()
  })
})
