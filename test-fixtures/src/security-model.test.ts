import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { loadCorpus } from './corpus.ts'

const text = readFileSync(new URL('../../docs/security-model.md', import.meta.url), 'utf8')
const cases = loadCorpus()

/** Words in code spans that are spelled like a case and are none. */
const NO_CASES = new Set([
  'read-only',
  'workspace-write',
  'danger-full-access',
  'sandbox-local',
  'test-fixtures',
])

it('the security model names every hostile case', () => {
  const missing = cases
    .filter(({ id, hostile }) => hostile && !text.includes(`\`${id}\``))
    .map(({ id }) => id)
  expect(missing).toEqual([])
})

it('and no case that does not exist', () => {
  const known = new Set(cases.map(({ id }) => id))
  const named = [...text.matchAll(/`([a-z0-9]+(?:-[a-z0-9]+)+)`/g)].flatMap(([, name]) =>
    name === undefined ? [] : [name],
  )
  expect(named.filter((name) => !known.has(name) && !NO_CASES.has(name))).toEqual([])
})
