import { describe, expect, it } from 'vitest'
import { parseProbe } from './index.ts'

describe('parseProbe', () => {
  it('reads the one line', () => {
    expect(parseProbe('landlock abi=7 errata=7\n')).toEqual({ abi: 7, errata: 7 })
    expect(parseProbe('landlock abi=11 errata=0\n')).toEqual({ abi: 11, errata: 0 })
  })

  it.each([
    '',
    'landlock abi=7 errata=7',
    'landlock abi=0 errata=0\n',
    'landlock abi=-38 errata=0\n',
    'landlock abi=7 errata=07\n',
    'landlock abi=7 errata=7\nmore\n',
    ' landlock abi=7 errata=7\n',
  ])('refuses %j', (text) => {
    expect(parseProbe(text)).toBeUndefined()
  })
})
