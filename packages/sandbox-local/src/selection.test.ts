import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { findBwrap } from './bwrap-lookup.ts'
import { createLocalSandboxProvider } from './provider.ts'
import { ladder } from './selection.ts'
import { skipWithout } from './testing/needs.ts'
import type { TrustRules } from './trust.ts'

let scratch: string
const uid = process.getuid?.() ?? 0
const TRUSTING: TrustRules = { owners: new Set([0, uid]), groups: new Set([0]), untrustedRoots: [] }

beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-test-select-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(scratch, { recursive: true })
})

/** A program that leaves a mark when it is run, and then says `version`. Returns its directory. */
function plant(directory: string, name = 'bwrap', version = 'bubblewrap 99.0.0'): string {
  const path = join(scratch, directory)
  mkdirSync(path, { recursive: true })
  writeFileSync(join(path, name), `#!/bin/sh\necho run >> ${scratch}/mark\necho ${version}\n`)
  chmodSync(join(path, name), 0o755)
  return path
}
const wasRun = () => existsSync(join(scratch, 'mark'))

async function lookUp(path: string, rules = TRUSTING): Promise<unknown> {
  vi.stubEnv('PATH', path)
  return findBwrap(rules, 10_000)
}

describe('the ladder', () => {
  const auto: Parameters<typeof ladder>[0] = { backend: 'auto', runnerCommand: [] }

  it('is a table', () => {
    expect(ladder(auto, 'linux')).toEqual(['bwrap', 'landlock'])
    expect(ladder(auto, 'darwin')).toEqual(['seatbelt'])
    for (const platform of ['win32', 'freebsd', 'sunos', 'aix'] as const)
      expect(ladder(auto, platform)).toEqual([])
  })

  it('is the one rung that was asked for, and never another behind it', () => {
    expect(ladder({ backend: 'landlock', runnerCommand: [] }, 'linux')).toEqual(['landlock'])
    expect(ladder({ backend: 'seatbelt', runnerCommand: [] }, 'linux')).toEqual(['seatbelt'])
    expect(ladder({ backend: 'auto', runnerCommand: ['/opt/runner'] }, 'linux')).toEqual(['custom'])
    expect(ladder({ backend: 'bwrap', runnerCommand: ['/opt/runner'] }, 'win32')).toEqual(['custom'])
  })
})

describe('looking for bubblewrap', () => {
  it('a planted one runs where nothing forbids it, so that the refusals below mean something', async () => {
    const bin = plant('bin')
    expect(await lookUp(bin)).toEqual({ found: { path: join(bin, 'bwrap'), version: '99.0.0' } })
    expect(wasRun()).toBe(true)
  })

  it('none on PATH', async () => {
    expect(await lookUp(scratch)).toMatchObject({ failure: { step: 'find', detail: 'no bwrap on PATH' } })
    expect(await lookUp('')).toMatchObject({ failure: { step: 'find' } })
  })

  it('a relative PATH entry is none', async () => {
    plant('bin')
    const here = process.cwd()
    process.chdir(scratch)
    try {
      expect(await lookUp('bin:.:')).toMatchObject({ failure: { step: 'find' } })
    } finally {
      process.chdir(here)
    }
    expect(wasRun()).toBe(false)
  })

  it('a directory, or a file that may not be executed, is none', async () => {
    mkdirSync(join(scratch, 'a', 'bwrap'), { recursive: true })
    chmodSync(join(plant('b'), 'bwrap'), 0o644)
    expect(await lookUp(`${scratch}/a:${scratch}/b`)).toMatchObject({ failure: { step: 'find' } })
  })

  it("the system's comes first, wherever it stands on PATH", async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    const planted = plant('bin')
    expect(await lookUp(`${planted}:/usr/bin`)).toMatchObject({
      found: { path: realpathSync('/usr/bin/bwrap') },
    })
    expect(wasRun()).toBe(false)
  })

  it('one that others can change is never run', async () => {
    const bin = plant('bin')
    chmodSync(bin, 0o777)
    expect(await lookUp(bin)).toMatchObject({
      failure: { step: 'trust', detail: `${bin}/bwrap can be changed by every user through ${bin}` },
    })
    expect(wasRun()).toBe(false)
  })

  it('one in an untrusted root is never run, nor one that a link leads to', async () => {
    const bin = plant('ws/bin')
    mkdirSync(join(scratch, 'elsewhere'))
    symlinkSync(join(bin, 'bwrap'), join(scratch, 'elsewhere', 'bwrap'))
    const rules = { ...TRUSTING, untrustedRoots: [join(scratch, 'ws')] }
    for (const path of [bin, join(scratch, 'elsewhere')]) {
      expect(await lookUp(path, rules)).toMatchObject({
        failure: {
          step: 'trust',
          detail: `${bin}/bwrap lies in ${scratch}/ws, which a command may be able to write`,
        },
      })
    }
    expect(wasRun()).toBe(false)
  })

  it('one that a package brought is never run, whatever root it is in', async () => {
    const bin = plant('checkout/node_modules/.bin')
    expect(await lookUp(bin)).toMatchObject({ failure: { step: 'trust' } })
    expect(wasRun()).toBe(false)
  })

  it.each([
    ['bubblewrap 0.2.1', '0.2.1; 0.3.0 or newer is needed'],
    ['bubblewrap 0.1', '0.1.0; 0.3.0 or newer is needed'],
  ])('one that says %j is too old', async (version, words) => {
    const bin = plant('bin', 'bwrap', version)
    expect(await lookUp(bin)).toMatchObject({
      failure: { step: 'version', detail: `${bin}/bwrap is ${words}` },
    })
  })

  it('one that says nothing of a version is refused', async () => {
    expect(await lookUp(plant('bin', 'bwrap', 'hello'))).toMatchObject({ failure: { step: 'version' } })
  })
})

describe("a provider's selection", () => {
  async function selectWith(config: Parameters<typeof createLocalSandboxProvider>[0]) {
    const provider = createLocalSandboxProvider({ stateParent: scratch, ...config })
    try {
      await provider.ready()
      return { selected: provider.selected, reports: await provider.diagnose() }
    } finally {
      await provider.dispose()
    }
  }

  it('takes Landlock where bubblewrap is missing, and says what failed', async ({ skip }) => {
    skipWithout(skip, 'landlock')
    vi.stubEnv('PATH', scratch)
    const { selected, reports } = await selectWith({})
    expect(selected).toBe('landlock')
    expect(reports).toMatchObject([
      { backend: 'bwrap', usable: false, failure: { step: 'find' } },
      { backend: 'landlock', usable: true, enforcement: { 'workspace-write': 'partial' } },
    ])
  })

  it('never falls to another rung than the one asked for', async () => {
    vi.stubEnv('PATH', scratch)
    expect((await selectWith({ backend: 'bwrap' })).selected).toBeUndefined()
    expect((await selectWith({ backend: 'seatbelt' })).reports).toMatchObject([
      {
        backend: 'seatbelt',
        usable: false,
        failure: { step: 'find', detail: 'sandbox-exec exists on macOS only' },
      },
    ])
  })

  it('never runs a bwrap from the workspace, spelled through a link or with a slash', async () => {
    const bin = plant('ws/bin')
    symlinkSync(join(scratch, 'ws'), join(scratch, 'link'))
    vi.stubEnv('PATH', `${scratch}/link/bin:${bin}`)
    for (const root of [join(scratch, 'ws'), join(scratch, 'link'), `${scratch}/ws/`]) {
      const { reports } = await selectWith({ backend: 'bwrap', untrustedRoots: [root] })
      expect(reports).toMatchObject([{ usable: false, failure: { step: 'trust' } }])
    }
    expect(wasRun()).toBe(false)
  })

  it("never runs an operator's runner that PATH finds in the workspace, but does run one named by its path", async () => {
    const bin = plant('ws/bin', 'runner')
    vi.stubEnv('PATH', bin)
    const common = { runnerFailureSignatures: ['runner: '], untrustedRoots: [join(scratch, 'ws')] }
    expect((await selectWith({ ...common, runnerCommand: ['runner'] })).reports).toMatchObject([
      { backend: 'custom', usable: false, failure: { step: 'trust' } },
    ])
    expect(wasRun()).toBe(false)
    const { reports } = await selectWith({ ...common, runnerCommand: [join(bin, 'runner')] })
    expect(reports).toMatchObject([{ backend: 'custom', usable: false, failure: { step: 'start' } }])
    expect(wasRun()).toBe(true)
  })

  it("an operator's script that everyone can write is refused, also behind an interpreter", async () => {
    const script = join(plant('opt', 'runner'), 'runner')
    chmodSync(script, 0o777)
    for (const runnerCommand of [[script], ['/bin/sh', script]]) {
      const { reports } = await selectWith({ runnerCommand, runnerFailureSignatures: ['runner: '] })
      expect(reports).toMatchObject([
        { failure: { step: 'trust', detail: `${script} can be changed by every user through ${script}` } },
      ])
    }
    expect(wasRun()).toBe(false)
  })

  it("an operator's runner that is missing", async () => {
    const { reports } = await selectWith({
      runnerCommand: ['/nowhere/runner'],
      runnerFailureSignatures: ['x: '],
    })
    expect(reports).toMatchObject([
      { usable: false, failure: { step: 'find', detail: 'no /nowhere/runner on PATH' } },
    ])
  })

  it('with no place for private state is unavailable, and ready() does not reject', async () => {
    const provider = createLocalSandboxProvider({ stateParent: join(scratch, 'missing') })
    await provider.ready()
    expect(provider.selected).toBeUndefined()
    await provider.dispose()
  })

  it('probes with an environment of its own: a preloaded library of ours does not ride along', async () => {
    const bin = plant('opt', 'runner')
    writeFileSync(join(bin, 'runner'), `#!/bin/sh\nenv > ${scratch}/env\nexit 1\n`)
    vi.stubEnv('LD_PRELOAD', '/nowhere.so')
    vi.stubEnv('BASH_ENV', '/nowhere.sh')
    await selectWith({ runnerCommand: [join(bin, 'runner')], runnerFailureSignatures: ['x: '] })
    const names = readFileSync(join(scratch, 'env'), 'utf8')
      .split('\n')
      .map((line) => line.split('=')[0])
    expect(names).not.toContain('LD_PRELOAD')
    expect(names).not.toContain('BASH_ENV')
  })
})
