import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SANDBOX_EFFECTS } from 'dsh-sandbox'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { loadProfile, SHIPPED_PROFILES } from './load.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dsh-profiles-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true })
})

async function profileOf(text: string): Promise<string> {
  const file = join(folder, 'own.json')
  await writeFile(file, text)
  return file
}

describe('a shipped profile', () => {
  it.each([
    ['read-only', { mode: 'read-only', tmp: 'private', env: 'scrubbed' }],
    ['workspace-write', { mode: 'workspace-write', tmp: 'private', env: 'scrubbed' }],
    ['ci', { mode: 'workspace-write', tmp: 'private', env: 'scrubbed', timeoutMs: 900_000 }],
  ])('%s says what its name promises', async (name, facts) => {
    const { description, ...rest } = await loadProfile(name)
    expect(rest).toStrictEqual(facts)
    expect(description).toBeTypeOf('string')
  })

  it('is one of three', () => {
    expect(SHIPPED_PROFILES).toStrictEqual(['read-only', 'workspace-write', 'ci'])
  })

  it('is looked up by name only: a name with a dot is no path', async () => {
    await expect(loadProfile('..')).rejects.toThrow(
      'profile ".." is not one of read-only, workspace-write, ci; a profile of your own is a path with a "/" or the ' +
        'ending ".json"',
    )
  })
})

describe('a profile file', () => {
  it('is read as it stands', async () => {
    expect(await loadProfile(await profileOf('{"mode":"read-only","timeoutMs":5}'))).toStrictEqual({
      mode: 'read-only',
      timeoutMs: 5,
    })
  })

  it.each([
    ['{', 'is not JSON'],
    ['[]', 'is not a JSON object'],
    ['{}', 'lacks the key "mode"; allowed: read-only, workspace-write'],
    [
      '{"mode":"read-only","network":"none"}',
      'has the unknown key "network"; allowed: description, mode, tmp, env, requires, timeoutMs',
    ],
    [
      '{"mode":"read-only","__proto__":{}}',
      'has the unknown key "__proto__"; allowed: description, mode, tmp, env, requires, timeoutMs',
    ],
    [
      '{"mode":"danger-full-access"}',
      'has "danger-full-access" as "mode"; allowed: read-only, workspace-write',
    ],
    ['{"mode":"read-only","tmp":"host"}', 'has "host" as "tmp"; allowed: private'],
    ['{"mode":"read-only","env":"all"}', 'has "all" as "env"; allowed: scrubbed'],
    [
      '{"mode":"read-only","requires":["wriet"]}',
      `has ["wriet"] as "requires"; allowed: a list of ${SANDBOX_EFFECTS.join(', ')}`,
    ],
    [
      '{"mode":"read-only","timeoutMs":0}',
      'has 0 as "timeoutMs"; allowed: a whole number of milliseconds from 1 to 2147483647',
    ],
    [
      '{"mode":"read-only","timeoutMs":1.5}',
      'has 1.5 as "timeoutMs"; allowed: a whole number of milliseconds from 1 to 2147483647',
    ],
    [
      '{"mode":"read-only","timeoutMs":2147483648}',
      'has 2147483648 as "timeoutMs"; allowed: a whole number of milliseconds from 1 to 2147483647',
    ],
  ])('%s is refused', async (text, fault) => {
    const file = await profileOf(text)
    await expect(loadProfile(file)).rejects.toMatchObject({
      code: 'SANDBOX_PROFILE_INVALID',
      profile: file,
      message: `profile "${file}" ${fault}`,
    })
  })

  it('that is too large is not read', async () => {
    const file = await profileOf(' '.repeat(65_537))
    await expect(loadProfile(file)).rejects.toThrow(`profile "${file}" is larger than 65536 bytes`)
  })

  it.each([
    ['/nowhere/own.json', 'does not exist'],
    ['/dev/zero', 'is not a regular file'],
    ['/', 'is not a regular file'],
  ])('%s is refused', async (file, fault) => {
    await expect(loadProfile(file)).rejects.toThrow(`profile "${file}" ${fault}`)
  })
})
