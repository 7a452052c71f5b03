import { readFile } from 'node:fs/promises'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { profileSchema } from './schema.ts'

it('schema.json is the schema', async () => {
  const file = await readFile(new URL('../schema.json', import.meta.url), 'utf8')
  expect(JSON.parse(file)).toStrictEqual(z.toJSONSchema(profileSchema))
})
