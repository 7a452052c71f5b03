/** Each rule for prebuilds, broken by a real file. */

import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { beforeEach, describe, expect, it } from 'vitest'
import { BUILT, skipWithout } from '../test/needs.ts'

interface Target {
  readonly machine: { readonly arch: string }
  readonly libc: 'glibc' | 'musl'
}
type Check = (path: string, file: string, target: Target) => { readonly faults: readonly string[] }

/** Scripts have no types; this is what the one exports. */
const { checked }: { checked: Check } = await import(
  pathToFileURL(join(import.meta.dirname, '..', 'prebuild-checks.mjs')).href
)
const HERE: Target = { machine: { arch: process.arch }, libc: 'glibc' }
const OTHER: Target = { machine: { arch: process.arch === 'x64' ? 'arm64' : 'x64' }, libc: 'glibc' }
/** A dynamic program of this machine. */
const TRUE = '/usr/bin/true'

let scratch: string
let launcher: string
beforeEach(({ skip }) => {
  skipWithout(skip, 'the launcher')
  scratch = mkdtempSync('/var/tmp/dsh-checks-')
  launcher = join(scratch, 'landlock-run')
  copyFileSync(join(BUILT, 'landlock-run'), launcher)
  return () => rmSync(scratch, { recursive: true })
})

/** The launcher with the bytes at `offset` replaced. */
function patched(offset: number, bytes: readonly number[]): string {
  const content = readFileSync(launcher)
  Buffer.from(bytes).copy(content, offset)
  writeFileSync(launcher, content)
  return launcher
}

/** Where the launcher's program header of a type begins. Source: elf(5). */
function headerOf(type: number): number {
  const content = readFileSync(launcher)
  const table = Number(content.readBigUInt64LE(32))
  const index = Array.from({ length: content.readUInt16LE(56) }, (_, n) => n).find(
    (n) => content.readUInt32LE(table + n * 56) === type,
  )
  if (index === undefined) throw new Error(`no program header of type ${type}`)
  return table + index * 56
}
const GNU_STACK = 0x6474e551
const GNU_RELRO = 0x6474e552

describe('a launcher', () => {
  it('as built here has no fault', () => {
    expect(checked(launcher, 'landlock-run', HERE).faults).toEqual([])
  })

  it('must be static', () => {
    const { faults } = checked(TRUE, 'landlock-run', HERE)
    expect(faults).toContainEqual(expect.stringMatching(/^it is not static: it starts with \/lib/))
    expect(faults).toContainEqual(expect.stringMatching(/^it is not static: it needs libc\.so\.6/))
  })

  it('must be for the machine', () => {
    expect(checked(launcher, 'landlock-run', OTHER).faults).toEqual([
      expect.stringMatching(/^it is for machine/),
    ])
  })

  it('must be small', () => {
    const { faults } = checked(launcher, 'landlock-run', { ...HERE, libc: 'musl' })
    expect(faults).toEqual([expect.stringMatching(/^it has \d+ bytes, more than 1\d0000$/)])
  })

  it('must be whole', () => {
    writeFileSync(launcher, readFileSync(launcher).subarray(0, -1))
    expect(checked(launcher, 'landlock-run', HERE).faults).toEqual([
      expect.stringMatching(/^the section headers should reach/),
    ])
  })

  it('must have a stack that is not executable', () => {
    patched(headerOf(GNU_STACK) + 4, [7])
    expect(checked(launcher, 'landlock-run', HERE).faults).toEqual(['its stack is executable'])
  })

  it('must have RELRO', () => {
    patched(headerOf(GNU_RELRO), [0, 0, 0, 0])
    expect(checked(launcher, 'landlock-run', HERE).faults).toEqual(['it has no RELRO'])
  })
})

describe('an addon', () => {
  it('as built here has no fault', () => {
    expect(checked(join(BUILT, 'landlock.node'), 'landlock.node', HERE).faults).toEqual([])
  })

  it('must export what Node asks for and nothing else, and ask for nothing new', () => {
    const { faults } = checked(TRUE, 'landlock.node', HERE)
    expect(faults).toContain('it does not export napi_register_module_v1')
    // A program of this system is linked with its newest glibc.
    expect(faults).toContainEqual(expect.stringMatching(/^it needs GLIBC_2\.3\d$/))
  })
})
