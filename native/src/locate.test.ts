import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { locateLauncher, parseProbe } from './index.ts'
import { run } from '../test/bench.ts'

const ROOT = join(import.meta.dirname, '..', '..')

describe('locateLauncher', () => {
  it('finds what was built here, and it answers', () => {
    const path = join(ROOT, 'build', 'Release', 'landlock-run')
    expect(locateLauncher()).toEqual({ path })
    expect(parseProbe(run([path, '--probe']).stdout)).toEqual({
      abi: expect.any(Number),
      errata: expect.any(Number),
    })
  })
})
