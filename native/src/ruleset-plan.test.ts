/** What is asked of a kernel by ABI, from the real tables and with pretended ABIs. */

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { Addon } from './addon.ts'
import {
  ADD_RULE_FLAGS,
  featuresOf,
  FS_RIGHTS,
  highestAbi,
  kernelOf,
  NET_RIGHTS,
  RESTRICT_SELF_FLAGS,
  SCOPES,
  type LandlockTables,
} from './landlock-tables.ts'
import { planFlags, planRule, planRuleset } from './ruleset-plan.ts'
import { BUILT, has, skipWithout } from '../test/needs.ts'

let tables: LandlockTables

beforeAll(() => {
  if (!has('the binding')) return
  const addon: Addon = createRequire(import.meta.url)(join(BUILT, 'landlock.node'))
  tables = addon.tables()
})
beforeEach(({ skip }) => skipWithout(skip, 'the binding'))

const names = (rows: readonly { readonly name: string }[]) => rows.map(({ name }) => name)
const ALL = { handledAccessFs: FS_RIGHTS, handledAccessNet: NET_RIGHTS, scoped: SCOPES }

describe('the tables', () => {
  it('name what the types name', () => {
    expect(names(tables.fs)).toEqual(FS_RIGHTS)
    expect(names(tables.net)).toEqual(NET_RIGHTS)
    expect(names(tables.scopes)).toEqual(SCOPES)
    expect(names(tables.restrictSelfFlags)).toEqual(RESTRICT_SELF_FLAGS)
    expect(names(tables.addRuleFlags)).toEqual(ADD_RULE_FLAGS)
  })

  it('give bits in order and without gaps, and know the release of every ABI', () => {
    const { fs, net, scopes, restrictSelfFlags, addRuleFlags } = tables
    for (const rows of [fs, net, scopes, restrictSelfFlags, addRuleFlags]) {
      expect(rows.map(({ bit }) => bit)).toEqual(rows.map((_, index) => 1n << BigInt(index)))
      for (const row of rows) expect(kernelOf(tables, row.abi)).toMatch(/^\d+\.\d+$/)
    }
    const releases = ['5.13', '5.19', '6.2', '6.7', '6.10', '6.12', '6.15', '7.0', '7.1', '7.2', '7.3']
    expect(tables.releases.map(({ abi }) => abi)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11])
    expect(tables.releases.map(({ abi }) => kernelOf(tables, abi))).toEqual(releases)
    expect(highestAbi(tables)).toBe(11)
  })
})

/** What is handled when all is asked for. Source: linux/landlock.h of 7.3 and "Previous limitations" of its document. */
const MASKS = [
  { abi: 1, fs: 0x1fffn, net: 0n, scoped: 0n, flags: 0n },
  { abi: 2, fs: 0x3fffn, net: 0n, scoped: 0n, flags: 0n },
  { abi: 3, fs: 0x7fffn, net: 0n, scoped: 0n, flags: 0n },
  { abi: 4, fs: 0x7fffn, net: 3n, scoped: 0n, flags: 0n },
  { abi: 5, fs: 0xffffn, net: 3n, scoped: 0n, flags: 0n },
  { abi: 6, fs: 0xffffn, net: 3n, scoped: 3n, flags: 0n },
  { abi: 7, fs: 0xffffn, net: 3n, scoped: 3n, flags: 7n },
  { abi: 8, fs: 0xffffn, net: 3n, scoped: 3n, flags: 0xfn },
  { abi: 9, fs: 0x1ffffn, net: 3n, scoped: 3n, flags: 0xfn },
  { abi: 10, fs: 0x1ffffn, net: 0xfn, scoped: 3n, flags: 0xfn },
  { abi: 11, fs: 0x1ffffn, net: 0xfn, scoped: 3n, flags: 0x1fn },
  { abi: 99, fs: 0x1ffffn, net: 0xfn, scoped: 3n, flags: 0x1fn },
]

describe.each(MASKS)('ABI $abi', ({ abi, fs, net, scoped, flags }) => {
  it('handles what it has and names the rest', () => {
    const plan = planRuleset(tables, abi, ALL)
    expect({ fs: plan.fs, net: plan.net, scoped: plan.scoped }).toEqual({ fs, net, scoped })
    const features = featuresOf(tables, abi)
    const missing = [
      ...FS_RIGHTS.filter((name) => !features.fs.includes(name)),
      ...NET_RIGHTS.filter((name) => !features.net.includes(name)),
      ...SCOPES.filter((name) => !features.scopes.includes(name)),
    ]
    expect(names(plan.missing)).toEqual(missing)
  })

  it('has these flags', () => {
    expect(planFlags(tables, abi, RESTRICT_SELF_FLAGS).bits).toBe(flags)
  })

  it('is taken for the highest known one when it is higher', () => {
    expect(featuresOf(tables, abi).abi).toBe(Math.min(abi, 11))
  })
})

describe('what is missing', () => {
  it('says which kernel brings it, and what happens without', () => {
    const wish = {
      handledAccessFs: ['refer', 'truncate'],
      handledAccessNet: ['bind_udp'],
      scoped: ['signal'],
    } as const
    expect(planRuleset(tables, 1, wish).missing).toEqual([
      { kind: 'fs', name: 'refer', abi: 2, kernel: '5.19', without: 'denied' },
      { kind: 'fs', name: 'truncate', abi: 3, kernel: '6.2', without: 'allowed' },
      { kind: 'net', name: 'bind_udp', abi: 10, kernel: '7.2', without: 'allowed' },
      { kind: 'scope', name: 'signal', abi: 6, kernel: '6.12', without: 'allowed' },
    ])
    expect(planFlags(tables, 6, ['tsync', 'log_new_exec_on']).missing).toEqual([
      { kind: 'flag', name: 'tsync', abi: 8, kernel: '7.0', without: 'other-threads-free' },
      { kind: 'flag', name: 'log_new_exec_on', abi: 7, kernel: '6.15', without: 'logged' },
    ])
  })
})

describe('a rule', () => {
  it('is cut down to what is handled', () => {
    expect(planRule(tables.fs, ['read_file', 'truncate'], ['read_file', 'truncate'], 0x1fffn)).toBe(4n)
  })

  it('counts a name once', () => {
    expect(planRule(tables.fs, ['read_file', 'read_file'], ['read_file'], 0x1fffn)).toBe(4n)
  })

  it.each([
    { rights: [], message: 'a rule needs at least one right' },
    { rights: ['execute'], message: 'the ruleset does not handle execute' },
    { rights: ['__proto__'], message: /^"__proto__" is no right: execute, / },
  ])('refuses $rights', ({ rights, message }) => {
    const rule = () => planRule<string>(tables.fs, rights, ['read_file'], 4n)
    expect(rule).toThrow(TypeError)
    expect(rule).toThrow(message)
  })
})

it('needs no newer C library than 2.17, which is the first on aarch64', ({ skip }) => {
  skipWithout(skip, 'the binding')
  const needed = readFileSync(join(BUILT, 'landlock.node'), 'latin1').matchAll(/GLIBC_2\.(\d+)/g)
  const minors = [...needed].map((match) => Number(match[1]))
  expect(minors.length).toBeGreaterThan(0)
  expect(Math.max(...minors)).toBeLessThanOrEqual(17)
})
