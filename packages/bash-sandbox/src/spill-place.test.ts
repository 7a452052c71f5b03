import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { SandboxPolicyError, type SandboxPolicy } from 'dsh-sandbox'
import { assertSpillClosed } from './spill-place.ts'

let root = ''
beforeEach(() => (root = mkdtempSync(join(tmpdir(), 'spill-place-'))))
afterEach(() => rmSync(root, { recursive: true }))

const policy = (facts: Partial<SandboxPolicy> = {}): SandboxPolicy => ({
  mode: 'workspace-write',
  workspaceRoot: root,
  ...facts,
})
const refused = (place: string, facts?: Partial<SandboxPolicy>) => {
  try {
    assertSpillClosed(place, policy(facts))
    return undefined
  } catch (error) {
    if (!(error instanceof SandboxPolicyError)) throw error
    return error.rule
  }
}

it('spilled output lies in nothing that is open for writing, named through a link or not', () => {
  symlinkSync(root, join(root, 'door'))
  expect(refused(root)).toBe('root-holds-private-state')
  expect(refused(join(root, 'door', 'spill'))).toBe('root-holds-private-state')
  expect(refused(root, { workspaceRoot: '/srv', writableRoots: [root] })).toBe('root-holds-private-state')
  expect(refused('/tmp', { mode: 'read-only', tmp: 'host' })).toBe('root-holds-private-state')
  expect(refused('/dev/shm/spill', { mode: 'read-only' })).toBe('root-holds-private-state')
})

it('beside it, and in a workspace that is only read, it may', () => {
  expect(refused(root, { mode: 'read-only' })).toBeUndefined()
  expect(refused(join(root, '..'), {})).toBeUndefined()
})
