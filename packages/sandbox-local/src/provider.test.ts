import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
// oxlint-disable-next-line no-restricted-imports -- a test runs what the provider only words
import { execa } from 'execa'
import {
  SandboxPolicyError,
  SandboxUnavailableError,
  type ConfinedArgv,
  type SandboxPolicy,
} from 'dsh-sandbox'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ProviderConfigInput } from './config.ts'
import { createLocalSandboxProvider, type LocalSandboxProvider } from './provider.ts'
import { NEED_OF, skipWithout, type Need } from './testing/needs.ts'

let scratch: string
let ws: string
let provider: LocalSandboxProvider
const WORDS = ['runner: ']

beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-test-provider-'))
  ws = directory('ws')
  directory('state')
  make()
})
afterEach(async () => {
  vi.useRealTimers()
  await provider.dispose()
  rmSync(scratch, { recursive: true, force: true })
})

function directory(name: string): string {
  const path = join(scratch, name)
  mkdirSync(path, { recursive: true })
  return path
}

function make(config: ProviderConfigInput = {}): LocalSandboxProvider {
  provider = createLocalSandboxProvider({ stateParent: join(scratch, 'state'), ...config })
  return provider
}

/** A runner that adds a line to `log` whenever it is run, and then does as `body` says. */
function loggingRunner(body: string): {
  readonly runnerCommand: string[]
  readonly runnerFailureSignatures: string[]
} {
  const path = join(directory('opt'), 'runner')
  writeFileSync(path, `#!/bin/sh\necho run >> ${scratch}/log\n${body}\n`)
  chmodSync(path, 0o755)
  return { runnerCommand: [path], runnerFailureSignatures: WORDS }
}
const CONFINES = 'exec /usr/bin/bwrap "$@"'
const runs = () =>
  existsSync(join(scratch, 'log')) ? readFileSync(join(scratch, 'log'), 'utf8').split('\n').length - 1 : 0

const policy = (facts: Partial<SandboxPolicy> = {}): SandboxPolicy => ({
  mode: 'workspace-write',
  workspaceRoot: ws,
  ...facts,
})

async function runScript(
  confined: ConfinedArgv,
  script: readonly string[] = [],
): Promise<{ exitCode: number | undefined; stdout: string; stderr: string }> {
  const [program = '', ...rest] = [...confined.argv, ...script]
  const { exitCode, stdout, stderr } = await execa(program, rest, { cwd: ws, reject: false, stdin: 'ignore' })
  return { exitCode, stdout, stderr }
}

describe('before ready()', () => {
  it('nothing is confined, and nothing is let through', () => {
    make()
    expect(provider.selected).toBeUndefined()
    expect(() => provider.confine(['true'], policy())).toThrow(
      expect.objectContaining({
        name: 'SandboxUnavailableError',
        code: 'SANDBOX_UNAVAILABLE',
        mode: 'workspace-write',
        detail: 'the backends have not been probed yet; await ready() first',
      }),
    )
  })

  it('a refused call starts the probe for the next', async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    make()
    expect(() => provider.confine(['true'], policy())).toThrow(SandboxUnavailableError)
    await provider.ready()
    expect(provider.confine(['true'], policy()).backend).toBe('bwrap')
  })

  it("a policy at fault is the policy's fault, also then", () => {
    make()
    expect(() => provider.confine(['true'], policy({ workspaceRoot: '/' }))).toThrow(SandboxPolicyError)
  })

  it('an argv without a program is a mistake', () => {
    make()
    expect(() => provider.confine([], policy())).toThrow(TypeError)
    expect(() => provider.confine([''], policy())).toThrow(TypeError)
  })
})

describe('probing', () => {
  it('happens once for many who wait: one run for each mode', async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    make(loggingRunner(CONFINES))
    await Promise.all([provider.ready(), provider.ready(), provider.ready()])
    await provider.ready()
    expect(provider.selected).toBe('custom')
    expect(runs()).toBe(2)
  })

  it('that failed is not repeated before probeRetryMs, and is after', async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    let now = 0
    const clock = vi.spyOn(performance, 'now').mockImplementation(() => now)
    try {
      make({ ...loggingRunner('echo "runner: not today" >&2; exit 1'), probeRetryMs: 1_000 })
      await provider.ready()
      now = 999
      await provider.ready()
      expect([provider.selected, runs()]).toEqual([undefined, 2])
      expect(() => provider.confine(['true'], policy())).toThrow(
        expect.objectContaining({
          detail:
            'custom: start: runner: not today (fix: run `dsh-sandbox doctor` and read what the runner says)',
        }),
      )
      expect(runs()).toBe(2)
      loggingRunner(CONFINES)
      now = 1_000
      await provider.ready()
      expect([provider.selected, runs()]).toEqual(['custom', 4])
    } finally {
      clock.mockRestore()
    }
  })

  it('a runner that is removed, or loses its x bits, is probed again and refused until it is back', async ({
    skip,
  }) => {
    skipWithout(skip, 'bwrap')
    const config = loggingRunner(CONFINES)
    make({ ...config, probeRetryMs: 1 })
    const [path = ''] = config.runnerCommand
    await provider.ready()
    renameSync(path, `${path}-away`)
    await provider.ready()
    expect(provider.selected).toBeUndefined()
    expect(() => provider.confine(['true'], policy())).toThrow(SandboxUnavailableError)
    renameSync(`${path}-away`, path)
    await vi.waitUntil(async () => {
      await provider.ready()
      return provider.selected === 'custom'
    })
    chmodSync(path, 0o600)
    await provider.ready()
    expect(provider.selected).toBeUndefined()
  })

  it('survives a working directory that is gone', async () => {
    const here = process.cwd()
    process.chdir(directory('gone'))
    rmSync(join(scratch, 'gone'), { recursive: true })
    try {
      make(loggingRunner('exit 1'))
      expect(() => provider.confine(['true'], policy())).toThrow(SandboxUnavailableError)
      await provider.ready()
      expect(runs()).toBe(2)
    } finally {
      process.chdir(here)
    }
  })

  it('leaves nothing beside private state', async () => {
    make()
    await provider.ready()
    await provider.diagnose()
    expect(readdirSync(join(scratch, 'state')).map((name) => name.replace(/\w{6}$/, ''))).toEqual([
      'dsh-sandbox-',
    ])
  })
})

describe('confine', () => {
  it.for(['bwrap', 'landlock'] as const)(
    '%s never returns the argv as it was, and names a status descriptor only when offered',
    async (backend, { skip }) => {
      skipWithout(skip, NEED_OF[backend])
      make({ backend })
      await provider.ready()
      const argv = ['bash', '-c', 'true']
      for (const mode of ['read-only', 'workspace-write'] as const) {
        const plain = provider.confine(argv, policy({ mode }))
        expect(plain.argv.slice(-3)).toEqual(argv)
        expect(plain.argv.length).toBeGreaterThan(10)
        expect(plain.argv[0]).toMatch(/^\//)
        expect(plain.argv).not.toContain('--status-fd')
        expect(Object.hasOwn(plain, 'statusFd')).toBe(false)
        expect(provider.confine(argv, policy({ mode }), { statusFd: 3 }).statusFd).toBe(3)
      }
    },
  )

  it('a runner that cannot report is not said to', async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    make(loggingRunner(CONFINES))
    await provider.ready()
    const confined = provider.confine(['true'], policy(), { statusFd: 3 })
    expect(Object.hasOwn(confined, 'statusFd')).toBe(false)
    expect(confined.runnerFailureRules).toEqual([{ fatalSignatures: WORDS, soleOutput: true }])
    expect(confined.denialSignatures).toEqual(['read-only file system', 'permission denied'])
  })

  it('says what can be written and what is hidden', async ({ skip }) => {
    skipWithout(skip, 'bwrap with the launcher')
    make({ backend: 'bwrap' })
    await provider.ready()
    expect(provider.confine(['true'], policy())).toMatchObject({
      backend: 'bwrap',
      enforcement: 'full',
      writableRoots: [ws, '/tmp'],
      maskedRoots: ['/tmp', '/dev', '/proc', expect.stringMatching(/\/dsh-sandbox-[^/]+\/sessions$/)],
      visibleRoots: [ws],
      tempDir: '/tmp',
    })
    expect(provider.confine(['true'], policy({ mode: 'read-only' })).writableRoots).toEqual(['/tmp'])
  })

  it.each(['bwrap', 'landlock'] as const)(
    '%s: refuses what requires an effect that is open, by name',
    async (backend) => {
      const proofs = await make({ backend }).selfTest()
      const usable = proofs.some(({ report }) => report.usable)
      await provider.ready()
      const confine = (requires: SandboxPolicy['requires']) => () =>
        provider.confine(['true'], policy({ requires }))
      if (!usable) return expect(confine(['write'])).toThrow(SandboxUnavailableError)
      expect(confine(['write', 'create', 'remove'])().effects).toMatchObject({
        write: 'enforced',
        tcp: 'open',
      })
      for (const requires of [['tcp'], ['write', 'read', 'tcp']] as const)
        expect(confine(requires)).toThrow(
          expect.objectContaining({
            rule: 'effect-open',
            subject: requires.filter((effect) => effect !== 'write').join(', '),
            message: expect.stringContaining(`that ${backend} leaves open in workspace-write mode`),
          }),
        )
      // @ts-expect-error: a caller without types; what is no effect is enforced by nobody
      expect(confine(['wriet'])).toThrow(SandboxPolicyError)
    },
  )

  it("an operator's runner states nothing, so nothing can be required of it", async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    await make(loggingRunner(CONFINES)).ready()
    expect(provider.confine(['true'], policy()).effects).toBeUndefined()
    expect(() => provider.confine(['true'], policy({ requires: ['write'] }))).toThrow(SandboxPolicyError)
  })

  it("names shared memory as open where it is the host's", async ({ skip }) => {
    skipWithout(skip, 'landlock')
    make({ backend: 'landlock' })
    await provider.ready()
    const confined = provider.confine(['true'], policy({ mode: 'read-only' }))
    expect(confined.writableRoots).toEqual([confined.tempDir, '/dev/shm'])
  })

  it('refuses a runner that the command could write, by its path', async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    const config = loggingRunner(CONFINES)
    make(config)
    await provider.ready()
    expect(() => provider.confine(['true'], policy({ writableRoots: [join(scratch, 'opt')] }))).toThrow(
      expect.objectContaining({
        detail: `custom: trust: ${config.runnerCommand[0]} lies in the writable root ${scratch}/opt (fix: install it elsewhere, or narrow the root)`,
      }),
    )
    expect(provider.confine(['true'], policy()).backend).toBe('custom')
  })

  it('refuses a script behind an interpreter just so, through links as well', async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    const { runnerCommand } = loggingRunner(CONFINES)
    symlinkSync(runnerCommand[0] ?? '', join(scratch, 'link'))
    make({ runnerCommand: ['/bin/sh', join(scratch, 'link')], runnerFailureSignatures: WORDS })
    await provider.ready()
    expect(provider.selected).toBe('custom')
    expect(() => provider.confine(['true'], policy({ writableRoots: [join(scratch, 'opt')] }))).toThrow(
      SandboxUnavailableError,
    )
  })

  it('refuses roots that hold private state or home', async () => {
    make()
    await provider.ready()
    expect(() => provider.confine(['true'], policy({ workspaceRoot: scratch }))).toThrow(
      expect.objectContaining({ rule: 'root-holds-private-state' }),
    )
    const home = realpathSync(process.env['HOME'] ?? '/root')
    expect(() => provider.confine(['true'], policy({ workspaceRoot: home }))).toThrow(
      expect.objectContaining({ rule: 'root-holds-home' }),
    )
  })

  it('says what to do when private state cannot be made', async () => {
    make({ stateParent: join(scratch, 'missing') })
    await provider.ready()
    expect(() => provider.confine(['true'], policy())).toThrow(
      expect.objectContaining({
        code: 'SANDBOX_UNAVAILABLE',
        detail: expect.stringMatching(
          /^private state: ENOENT.* \(fix: free space in \/var\/tmp, or set stateParent to a writable directory\)$/,
        ),
      }),
    )
  })
})

describe('sessions', () => {
  it('have a temp each that lasts, and ends alone', async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    make({ backend: 'bwrap' })
    await provider.ready()
    const inSession = (sessionId: string, script: string) =>
      runScript(provider.confine(['bash', '-c', script], policy({ sessionId })))
    expect((await inSession('a', 'echo kept > /tmp/file; stat -c %a /tmp')).stdout).toBe('700')
    expect((await inSession('a', 'cat $TMPDIR/file')).stdout).toBe('kept')
    expect((await inSession('b', 'ls /tmp')).stdout).toBe('')
    await provider.endSession('b')
    expect((await inSession('a', 'cat /tmp/file')).stdout).toBe('kept')
    await provider.endSession('a')
    expect((await inSession('a', 'ls -A /tmp')).stdout).toBe('')
  })

  it('keep a temp whatever the command did to it', async ({ skip }) => {
    skipWithout(skip, 'landlock')
    make({ backend: 'landlock' })
    await provider.ready()
    const inSession = (script: string) => runScript(provider.confine(['bash', '-c', script], policy()))
    await inSession('rm -rf "$TMPDIR"; chmod 0 "$TMPDIR"')
    expect(await inSession('echo x > "$TMPDIR/file" && cat "$TMPDIR/file"')).toMatchObject({
      exitCode: 0,
      stdout: 'x',
    })
  })

  it('end with the provider, which then refuses', async ({ skip }) => {
    skipWithout(skip, 'landlock')
    make({ backend: 'landlock' })
    await provider.ready()
    const { argv } = provider.confine(['true'], policy())
    await provider.dispose()
    await provider.dispose()
    expect(readdirSync(join(scratch, 'state'))).toEqual([])
    expect(existsSync(argv[0] ?? '')).toBe(false)
    expect(() => provider.confine(['true'], policy())).toThrow(
      expect.objectContaining({ detail: 'the sandbox provider has been disposed' }),
    )
    await provider.ready()
    expect(readdirSync(join(scratch, 'state'))).toEqual([])
  })

  it('disposal waits for a probe under way', async () => {
    make()
    const probing = provider.ready()
    await provider.dispose()
    await probing
    expect(readdirSync(join(scratch, 'state'))).toEqual([])
  })
})

describe('who takes the argv alone, and can only signal its process group', () => {
  /** How bubblewrap hands a signal on, and how the launcher does. */
  const ENDS = [
    { backend: 'bwrap', need: 'bwrap with the launcher', byTerm: [143, null] },
    { backend: 'landlock', need: 'landlock', byTerm: [null, 'SIGTERM'] },
  ] as const

  async function signalled(backend: 'bwrap' | 'landlock', script: string, signal: NodeJS.Signals) {
    await make({ backend }).ready()
    const [program = '', ...args] = provider.confine(['bash', '-c', script], policy()).argv
    const child = spawn(program, args, { cwd: ws, detached: true, stdio: ['ignore', 'pipe', 'ignore'] })
    const ended = once(child, 'exit')
    let stdout = ''
    child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
    while (!stdout.includes('up')) await once(child.stdout, 'data')
    process.kill(-(child.pid ?? 0), signal)
    return { end: await ended, stdout }
  }

  it.for(ENDS)('$backend: a trapped TERM finishes', async ({ backend, need }, { skip }) => {
    skipWithout(skip, need)
    const script = 'trap "sleep 0.2; echo bye; exit 7" TERM; echo up; sleep 60 & wait'
    expect(await signalled(backend, script, 'SIGTERM')).toEqual({ end: [7, null], stdout: 'up\nbye\n' })
  })

  it.for(ENDS)('$backend: a death by TERM keeps its number', async ({ backend, need, byTerm }, { skip }) => {
    skipWithout(skip, need)
    expect((await signalled(backend, 'echo up; exec sleep 60', 'SIGTERM')).end).toEqual(byTerm)
  })
})

describe('end to end', () => {
  const ATTACK = 'echo x > "$1/outside/file"; echo x > "$1/ws/file"'
  const attack = () => ['bash', '-c', ATTACK, 'bash', scratch]
  const state = () => ['outside/file', 'ws/file'].filter((name) => existsSync(join(scratch, name)))

  beforeEach(async () => {
    directory('outside')
    await execa('bash', attack().slice(1))
    if (state().length !== 2) throw new Error('the attack does not work unconfined')
    for (const name of state()) rmSync(join(scratch, name))
  })

  const backends: readonly (readonly [string, Need, () => ProviderConfigInput])[] = [
    ['bwrap', 'bwrap', () => ({ backend: 'bwrap' })],
    ['landlock', 'landlock', () => ({ backend: 'landlock' })],
    ["an operator's bwrap wrapper", 'bwrap', () => loggingRunner(CONFINES)],
  ]

  it.for(backends)('%s: an outside write fails in both modes', async ([, need, config], { skip }) => {
    skipWithout(skip, need)
    make(config())
    await provider.ready()
    await runScript(provider.confine(attack(), policy({ mode: 'read-only' })))
    expect(state()).toEqual([])
    await runScript(provider.confine(attack(), policy()))
    expect(state()).toEqual(['ws/file'])
  })

  it.for(backends)('%s: no inherited descriptor opens a way out', async ([, need, config], { skip }) => {
    skipWithout(skip, need)
    make(config())
    await provider.ready()
    const leak = openSync(join(scratch, 'outside'), 'r')
    const closed = Array.from({ length: 6 }, () => 'ignore' as const)
    try {
      const escape = ['bash', '-c', 'echo x > /proc/self/fd/9/file']
      const leaky = (argv: readonly string[]) =>
        once(
          spawn(argv[0] ?? '', argv.slice(1), {
            cwd: ws,
            stdio: ['ignore', 'ignore', 'ignore', ...closed, leak],
          }),
          'close',
        )
      await leaky(escape)
      expect(state()).toEqual(['outside/file'])
      rmSync(join(scratch, 'outside/file'))
      await leaky(provider.confine(escape, policy()).argv)
      expect(state()).toEqual([])
    } finally {
      closeSync(leak)
    }
  })

  it.for([
    // bubblewrap cannot make a mount point of the link; the launcher finds another directory.
    ['bwrap', 'link', 1],
    ['bwrap', 'directory', 125],
    ['landlock', 'link', 125],
    ['landlock', 'directory', 125],
  ] as const)(
    '%s: a root swapped for a %s between confine() and the spawn is not opened',
    async ([backend, what, status], { skip }) => {
      skipWithout(skip, NEED_OF[backend])
      make({ backend })
      await provider.ready()
      const confined = provider.confine(['bash', '-c', `echo x > ${ws}/file`], policy())
      renameSync(ws, `${ws}-old`)
      if (what === 'link') symlinkSync(join(scratch, 'outside'), ws)
      else renameSync(join(scratch, 'outside'), ws)
      expect((await runScript(confined)).exitCode).toBe(status)
      expect(readdirSync(ws)).toEqual([])
    },
  )
})

it('private state is closed to others', async () => {
  make()
  await provider.ready()
  const [name = ''] = readdirSync(join(scratch, 'state'))
  expect(statSync(join(scratch, 'state', name)).mode & 0o777).toBe(0o700)
})
