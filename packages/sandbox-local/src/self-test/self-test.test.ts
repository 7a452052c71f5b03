/** The self-test on real backends, and on some that lie: a test that cannot say "wrong" proves nothing. */

import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { locateLauncher } from 'dsh-landlock'
import { SANDBOX_EFFECTS, type SandboxEffects } from 'dsh-sandbox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { Backend } from '../backends/backend.ts'
import { bwrapBackend } from '../backends/bwrap.ts'
import { landlockBackend, landlockView } from '../backends/landlock.ts'
import { effectsOf, inEveryMode } from '../effects.ts'
import { readHostFacts } from '../host.ts'
import { createLocalSandboxProvider } from '../provider.ts'
import { NEED_OF, skipWithout } from '../testing/needs.ts'
import { selfTest, type ModeProof, type SelfTestSite } from './self-test.ts'

let scratch: string
let site: SelfTestSite

beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-self-test-test-'))
  for (const name of ['parent', 'temp', 'ws']) mkdirSync(join(scratch, name))
  site = { parent: join(scratch, 'parent'), timeoutMs: 20_000, temp: join(scratch, 'temp') }
})
afterEach(() => rmSync(scratch, { recursive: true, force: true }))

const leftovers = () => readdirSync(site.parent)

/** Words that were not proved, as `mode effect proof`. */
function unproved(modes: readonly ModeProof[]): readonly string[] {
  return modes.flatMap(({ mode, effects }) =>
    effects
      .filter(({ proof }) => proof !== 'proved')
      .map(({ effect, proof }) => `${mode} ${effect} ${proof}`),
  )
}

describe.each(['bwrap', 'landlock'] as const)('%s', (backend) => {
  beforeEach(({ skip }) => skipWithout(skip, NEED_OF[backend]))

  it('does as every word of it says, in both directions', async () => {
    const provider = createLocalSandboxProvider({ backend, stateParent: site.parent })
    try {
      const [proved] = await provider.selfTest()
      expect(proved?.report).toMatchObject({ backend, usable: true })
      expect(proved?.modes.map(({ mode }) => mode)).toEqual(['read-only', 'workspace-write'])
      for (const { effects } of proved?.modes ?? [])
        expect(effects.map(({ effect }) => effect)).toEqual(SANDBOX_EFFECTS)
      // An ordinary user may find no device but those that every command gets.
      const excused = unproved(proved?.modes ?? []).filter((line) => !line.endsWith('device-ioctl unproved'))
      expect(excused).toEqual([])
    } finally {
      await provider.dispose()
    }
    expect(leftovers()).toEqual([])
  })

  it('confines as it states, call by call', async () => {
    const provider = createLocalSandboxProvider({ backend, stateParent: site.parent })
    try {
      await provider.ready()
      const [proved] = await provider.selfTest()
      for (const { mode, enforcement, effects } of proved?.modes ?? []) {
        const confined = provider.confine(['true'], { mode, workspaceRoot: join(scratch, 'ws') })
        expect(confined.enforcement).toBe(enforcement)
        expect(confined.effects).toEqual(
          Object.fromEntries(effects.map(({ effect, word }) => [effect, word])),
        )
      }
    } finally {
      await provider.dispose()
    }
  })
})

describe('a backend that lies', () => {
  beforeEach(({ skip }) => skipWithout(skip, 'landlock'))

  const honest = (): Backend => {
    const located = locateLauncher()
    return landlockBackend({ path: 'path' in located ? located.path : '', landlockAbi: 7 })
  }
  const claiming = (effects: SandboxEffects, wrap: Backend['wrap']): Backend => ({
    ...honest(),
    statements: inEveryMode({ enforcement: 'full', effects, closedEverywhere: [] }),
    wrap,
    view: landlockView,
  })

  it('and stops nothing is caught in each word that it calls enforced', async () => {
    const everything = effectsOf({ mounts: true, landlockAbi: 7, nodeFilter: true })
    const modes = await selfTest(
      claiming(everything, (argv) => argv),
      site,
    )
    for (const { effects } of modes)
      for (const { effect, word, proof, why } of effects)
        if (proof !== 'unproved')
          expect([effect, proof, why ?? '']).toEqual(
            word === 'enforced'
              ? [effect, 'wrong', expect.stringContaining('not stopped')]
              : [effect, 'proved', ''],
          )
    expect(unproved(modes).filter((line) => line.endsWith('wrong')).length).toBeGreaterThan(20)
    expect(leftovers()).toEqual([])
  })

  it('and calls open what it stops is caught as well', async () => {
    const nothing = effectsOf({})
    const modes = await selfTest(claiming(nothing, honest().wrap), site)
    expect(unproved(modes)).toEqual(
      expect.arrayContaining(['read-only write wrong', 'workspace-write create wrong']),
    )
  })

  it("and runs nothing at all is caught by the command's own", async () => {
    const stops = effectsOf({ mounts: true, landlockAbi: 7, nodeFilter: true })
    const modes = await selfTest(
      claiming(stops, () => ['/bin/false']),
      site,
    )
    expect(unproved(modes)).toEqual(
      expect.arrayContaining(['read-only write wrong', 'workspace-write signal-host wrong']),
    )
  })
})

it('holds however deep private state lies', async ({ skip }) => {
  skipWithout(skip, 'landlock')
  const deep = join(site.parent, 'd'.repeat(120))
  mkdirSync(deep)
  const provider = createLocalSandboxProvider({ backend: 'landlock', stateParent: deep })
  try {
    const [proved] = await provider.selfTest()
    const wrong = unproved(proved?.modes ?? []).filter((line) => line.endsWith('wrong'))
    expect([proved?.modes.length, wrong]).toEqual([2, []])
  } finally {
    await provider.dispose()
  }
})

it('holds where private state lies in what bubblewrap masks', async ({ skip }) => {
  skipWithout(skip, 'bwrap with the launcher')
  const masked = realpathSync(mkdtempSync('/tmp/dsh-self-test-test-'))
  const provider = createLocalSandboxProvider({ backend: 'bwrap', stateParent: masked })
  try {
    const [proved] = await provider.selfTest()
    const wrong = unproved(proved?.modes ?? []).filter((line) => line.endsWith('wrong'))
    expect([proved?.modes.length, wrong]).toEqual([2, []])
  } finally {
    await provider.dispose()
    rmSync(masked, { recursive: true, force: true })
  }
})

it('proves nothing, and says why, where there is no launcher', async () => {
  const modes = await selfTest(bwrapBackend('/usr/bin/bwrap', undefined, readHostFacts()), site)
  expect(modes.length).toBe(2)
  for (const { effects } of modes)
    expect(effects.every(({ proof, why = '' }) => proof === 'unproved' && why.includes('launcher'))).toBe(
      true,
    )
})
