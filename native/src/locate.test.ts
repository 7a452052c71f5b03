import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { locateLauncher, parseProbe } from './index.ts'
import { run } from '../test/bench.ts'
import { BUILT, skipWithout } from '../test/needs.ts'

describe('locateLauncher', () => {
  it('finds what was built here, and it answers', ({ skip }) => {
    skipWithout(skip, 'the launcher')
    const path = join(BUILT, 'landlock-run')
    expect(locateLauncher()).toEqual({ path })
    expect(parseProbe(run([path, '--probe']).stdout)).toEqual({
      abi: expect.any(Number),
      errata: expect.any(Number),
    })
  })
})
