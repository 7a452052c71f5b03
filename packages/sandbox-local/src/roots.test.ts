import {
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { SandboxPolicyError } from 'dsh-sandbox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createRootPins, type RootPins } from './roots.ts'

let scratch: string
let pins: RootPins

beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-test-roots-'))
  pins = createRootPins()
})
afterEach(() => rmSync(scratch, { recursive: true }))

function directory(name: string): string {
  const path = join(scratch, name)
  mkdirSync(path, { recursive: true })
  return path
}

function refusal(spelled: string): { rule: string; subject: string; message: string } {
  try {
    pins.pin(spelled)
  } catch (error) {
    if (error instanceof SandboxPolicyError) {
      return { rule: error.rule, subject: error.subject, message: error.message }
    }
    throw error
  }
  throw new Error(`${spelled} was accepted`)
}

describe('what can be no root', () => {
  it('a relative path', () => {
    expect(refusal('ws')).toEqual({
      rule: 'root-not-absolute',
      subject: 'ws',
      message: 'workspace root "ws" must be an absolute path',
    })
  })

  it('an empty path', () => {
    expect(refusal('').rule).toBe('root-not-absolute')
  })

  it('a missing directory, with the way out', () => {
    const path = join(scratch, 'missing')
    expect(refusal(path)).toEqual({
      rule: 'root-missing',
      subject: path,
      message: `workspace root ${path} does not exist; nothing was run. Create it or name another.`,
    })
  })

  it('a dangling link', () => {
    symlinkSync('nowhere', join(scratch, 'link'))
    expect(refusal(join(scratch, 'link')).rule).toBe('root-missing')
  })

  it('a file, and what lies below one', () => {
    const file = join(scratch, 'file')
    writeFileSync(file, '')
    expect(refusal(file).rule).toBe('root-not-directory')
    expect(refusal(join(file, 'below')).rule).toBe('root-not-directory')
  })

  it('a link that leads to itself', () => {
    symlinkSync('loop', join(scratch, 'loop'))
    expect(refusal(join(scratch, 'loop'))).toMatchObject({
      rule: 'root-unreadable',
      message: `workspace root ${join(scratch, 'loop')} cannot be resolved (ELOOP); nothing was run. Create it or name another.`,
    })
  })
})

describe('what a root becomes', () => {
  it('its canonical path and identity', () => {
    const ws = directory('ws')
    const { dev, ino } = statSync(ws, { bigint: true })
    expect(pins.pin(ws)).toEqual({ path: ws, dev, ino })
  })

  it.each(['/', '//', '/./', '/../ws'])('the same with %j behind it', (suffix) => {
    const ws = directory('ws')
    expect(pins.pin(`${ws}${suffix}`).path).toBe(ws)
  })

  it('the target of a link', () => {
    const ws = directory('ws')
    symlinkSync(ws, join(scratch, 'link'))
    expect(pins.pin(join(scratch, 'link')).path).toBe(ws)
  })

  it('`..` behind a link is the parent of its target', () => {
    directory('deep/ws')
    symlinkSync(join(scratch, 'deep/ws'), join(scratch, 'link'))
    expect(pins.pin(`${scratch}/link/..`).path).toBe(join(scratch, 'deep'))
  })
})

describe('a root that moves', () => {
  function expectChanged(spelled: string, first: string): void {
    expect(refusal(spelled)).toEqual({
      rule: 'root-changed',
      subject: spelled,
      message:
        `workspace root ${spelled} is not the directory it was when first used (${first}); nothing was run. ` +
        'Put the directory back, or start anew to use the new one.',
    })
  }

  it('swapped for a link to another directory', () => {
    const ws = directory('ws')
    const other = directory('other')
    pins.pin(ws)
    renameSync(ws, join(scratch, 'old'))
    symlinkSync(other, ws)
    expectChanged(ws, ws)
  })

  it('swapped for a link to itself under another name', () => {
    const ws = directory('ws')
    pins.pin(ws)
    renameSync(ws, join(scratch, 'moved'))
    symlinkSync(join(scratch, 'moved'), ws)
    expectChanged(ws, ws)
  })

  it('replaced by another directory', () => {
    const ws = directory('ws')
    pins.pin(ws)
    renameSync(ws, join(scratch, 'old'))
    directory('ws')
    expectChanged(ws, ws)
  })

  it('a link that leads elsewhere', () => {
    const ws = directory('ws')
    const link = join(scratch, 'link')
    symlinkSync(ws, link)
    pins.pin(link)
    rmSync(link)
    symlinkSync(directory('other'), link)
    expectChanged(link, ws)
  })

  it('put back, it is good again; gone, it is missing', () => {
    const ws = directory('ws')
    const pinned = pins.pin(ws)
    renameSync(ws, join(scratch, 'old'))
    expect(refusal(ws).rule).toBe('root-missing')
    renameSync(join(scratch, 'old'), ws)
    expect(pins.pin(ws)).toEqual(pinned)
  })

  it('does not move for pins made later', () => {
    const ws = directory('ws')
    pins.pin(ws)
    renameSync(ws, join(scratch, 'old'))
    directory('ws')
    expect(createRootPins().pin(ws).path).toBe(ws)
  })
})
