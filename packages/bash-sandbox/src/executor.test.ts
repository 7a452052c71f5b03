import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  chmodSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { BashExecSpec } from 'dsh-bash'
import { childEnv, createBashRunner, type BashRunner } from 'dsh-bash-local'
import {
  SandboxPolicyError,
  SandboxUnavailableError,
  type ConfinedArgv,
  type ConfinementChannel,
  type SandboxExecutionPolicy,
  type SandboxPolicy,
  type SandboxProvider,
} from 'dsh-sandbox'
// oxlint-disable-next-line no-restricted-imports -- what is tested here is the two of them together
import { createLocalSandboxProvider } from 'dsh-sandbox-local'
import { createSandboxedBash } from './create.ts'
import { SandboxedBashExecutor, type SandboxedBash } from './executor.ts'
import { splitEnvironment } from './inside-environment.ts'
import { NEED_OF, skipWithout } from './testing/needs.ts'

let scratch: string
let ws: string
let runner: BashRunner
const cleanups: (() => Promise<void>)[] = []

beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-test-executor-'))
  ws = join(scratch, 'ws')
  mkdirSync(ws)
  runner = createBashRunner({ cwd: ws, graceMs: 500 })
})
afterEach(async () => {
  await runner.dispose()
  for (const clean of cleanups.splice(0)) await clean()
  rmSync(scratch, { recursive: true, force: true })
})

const readOnly = (): SandboxExecutionPolicy => ({ mode: 'read-only', workspaceRoot: ws })

/** A provider that writes down what it is asked and answers with `argv` behind `env`, as harmless as a runner can be. */
class RecordingProvider implements SandboxProvider {
  readonly asked: {
    argv: readonly string[]
    policy: SandboxPolicy
    channel: ConfinementChannel | undefined
  }[] = []
  readonly calls: string[] = []
  answer: Partial<ConfinedArgv> = {}

  confine(argv: readonly string[], policy: SandboxPolicy, channel?: ConfinementChannel): ConfinedArgv {
    this.asked.push({ argv, policy, channel })
    this.calls.push('confine')
    const facts = {
      enforcement: 'partial',
      denialSignatures: ['permission denied'],
      runnerFailureRules: [],
    } as const
    return { argv: ['/usr/bin/env', ...argv], ...facts, ...this.answer }
  }

  ready(): Promise<void> {
    this.calls.push('ready')
    return Promise.resolve()
  }
}

function executorWith(
  provider: SandboxProvider,
  defaults: SandboxExecutionPolicy = readOnly(),
): SandboxedBashExecutor {
  return new SandboxedBashExecutor(runner, provider, defaults)
}

describe('the hand-over', () => {
  // What this process itself was started with would ride along.
  beforeEach(() => {
    const { inside } = splitEnvironment(childEnv({}, process.env), {}, () => false)
    for (const name of Object.keys(inside)) vi.stubEnv(name, undefined)
    vi.stubEnv('PATH', '/usr/bin:/bin')
  })
  afterEach(() => vi.unstubAllEnvs())

  it('waits for ready(), then asks once for exactly this argv under exactly this policy', async () => {
    const provider = new RecordingProvider()
    const bash = executorWith(provider)
    const result = await bash.run(bash.resolve({ command: 'echo $0' }))
    expect(result).toMatchObject({ exitCode: 0, stdout: { text: 'bash\n' } })
    expect(result.sandbox).toEqual({ mode: 'read-only', denied: false, enforcement: 'partial' })
    expect(provider.calls).toEqual(['ready', 'confine'])
    expect(provider.asked).toEqual([
      { argv: ['bash', '-c', 'echo $0'], policy: readOnly(), channel: { statusFd: 3 } },
    ])
  })

  it('an argv request is handed over as it is', async () => {
    const provider = new RecordingProvider()
    const bash = executorWith(provider)
    const argv = ['printf', '%s|', 'a b', '$HOME', '']
    expect((await bash.runArgv(argv)).stdout.text).toBe('a b|$HOME||')
    expect(provider.asked[0]?.argv).toEqual(argv)
  })

  it('what the provider returns is spawned, and nothing else', async () => {
    const provider = new RecordingProvider()
    provider.answer = { argv: ['/bin/echo', 'instead'] }
    const bash = executorWith(provider)
    expect((await bash.run(bash.resolve({ command: `touch ${ws}/ran` }))).stdout.text).toBe('instead\n')
    expect(existsSync(join(ws, 'ran'))).toBe(false)
  })

  it('works with a provider of the published shape: no ready(), four fields', async () => {
    const provider: SandboxProvider = {
      confine: (argv) => ({
        argv: ['/usr/bin/env', ...argv],
        enforcement: 'full',
        denialSignatures: ['read-only file system'],
        runnerFailureRules: [{ fatalSignatures: ['bwrap: '] }],
      }),
    }
    const bash = executorWith(provider)
    const ok = await bash.run(bash.resolve({ command: 'echo hi' }))
    expect(ok.sandbox).toEqual({ mode: 'read-only', denied: false, enforcement: 'full' })
    const denied = await bash.run(
      bash.resolve({ command: `echo "bash: line 1: ${scratch}/x: Read-only file system" >&2; exit 1` }),
    )
    expect(denied.sandbox).toMatchObject({ denied: true, denial: { path: `${scratch}/x` } })
    await expect(bash.run(bash.resolve({ command: 'echo "bwrap: no" >&2; exit 1' }))).rejects.toThrow(
      expect.objectContaining({ code: 'SANDBOX_UNAVAILABLE', mode: 'read-only', detail: 'bwrap: no' }),
    )
    const background = bash.start(bash.resolve({ command: 'echo bg' }))
    await background.done
    expect(background.sandbox).toEqual({ mode: 'read-only', denied: false, enforcement: 'full' })
  })
})

it('what is required reaches the provider, in each way of running', async () => {
  const provider = new RecordingProvider()
  const bash = executorWith(provider, { ...readOnly(), requires: ['write'] })
  await bash.run(bash.resolve({ command: 'true' }))
  await bash.start(bash.resolve({ command: 'true' })).done
  await bash.runArgv(['true'])
  await bash.passArgv(['true'])
  expect(provider.asked.map(({ policy }) => policy.requires)).toEqual([
    ['write'],
    ['write'],
    ['write'],
    ['write'],
  ])
})

describe('danger-full-access', () => {
  it('enforces nothing, so whatever requires an effect is refused before it runs', async () => {
    const bash = executorWith(new RecordingProvider(), { ...readOnly(), requires: ['write'] })
    const spec = bash.resolve({ command: `touch ${ws}/ran`, sandboxMode: 'danger-full-access' })
    const refusal = expect.objectContaining({ rule: 'effect-open', subject: 'write' })
    await expect(bash.run(spec)).rejects.toThrow(refusal)
    expect(() => bash.start(spec)).toThrow(refusal)
    expect(existsSync(join(ws, 'ran'))).toBe(false)
  })

  it('never touches the provider, in any way of running, and says no more than the mode', async () => {
    const provider = new Proxy({} as SandboxProvider, {
      get: (_, name) => {
        throw new Error(`the provider was asked for ${String(name)}`)
      },
    })
    const bash = executorWith(provider, { mode: 'danger-full-access', workspaceRoot: '/' })
    const info = { mode: 'danger-full-access', denied: false }
    expect((await bash.run(bash.resolve({ command: `touch ${scratch}/made` }))).sandbox).toEqual(info)
    expect(existsSync(join(scratch, 'made'))).toBe(true)
    expect((await bash.runArgv(['true'])).sandbox).toEqual(info)
    expect((await bash.passArgv(['true'])).sandbox).toEqual(info)
    const background = bash.start(bash.resolve({ command: 'true' }))
    await background.done
    expect(background.status).toBe('completed')
  })

  it('denied words there are words', async () => {
    const bash = executorWith(new RecordingProvider(), { mode: 'danger-full-access', workspaceRoot: ws })
    const result = await bash.run(bash.resolve({ command: 'echo "bash: /x: Permission denied" >&2; exit 1' }))
    expect(result.sandbox).toEqual({ mode: 'danger-full-access', denied: false })
  })
})

describe('specs', () => {
  const mark = () => `touch ${scratch}/ran`

  it.each([
    ['no policy', { sandboxPolicy: undefined }],
    ['no mode', { sandboxMode: undefined }],
    ['neither', { sandboxMode: undefined, sandboxPolicy: undefined }],
    ['a wider mode', { sandboxMode: 'danger-full-access' }],
    ['a wider policy', { sandboxPolicy: { mode: 'danger-full-access', workspaceRoot: '/' } }],
  ] as const satisfies readonly (readonly [string, Partial<BashExecSpec>])[])(
    'with %s are refused',
    async (_, change) => {
      const provider = new RecordingProvider()
      const bash = executorWith(provider)
      const spec = { ...bash.resolve({ command: mark() }), ...change }
      const refusal = new TypeError(
        'the spec states no sandbox policy, or one that differs from its mode: make specs with resolve()',
      )
      await expect(bash.run(spec)).rejects.toThrow(refusal)
      expect(() => bash.start(spec)).toThrow(refusal)
      expect(provider.calls).toEqual([])
      expect(existsSync(join(scratch, 'ran'))).toBe(false)
    },
  )

  it("carry the request's policy, which outranks mode and configuration", async () => {
    const provider = new RecordingProvider()
    const bash = executorWith(provider, { ...readOnly(), writableRoots: ['/cache'] })
    const other = join(scratch, 'other')
    mkdirSync(other)
    const sandboxPolicy = { mode: 'workspace-write', workspaceRoot: other, sessionId: 's' } as const
    const spec = bash.resolve({ command: 'pwd', sandboxPolicy, sandboxMode: 'danger-full-access' })
    expect([spec.sandboxMode, spec.workdir]).toEqual(['workspace-write', other])
    expect((await bash.run(spec)).stdout.text).toBe(`${other}\n`)
    expect(provider.asked[0]?.policy).toEqual(sandboxPolicy)
    expect(bash.resolve({ command: 'pwd', sandboxPolicy, workdir: 'sub' }).workdir).toBe(join(other, 'sub'))
    expect(bash.resolve({ command: 'pwd', workdir: 'sub' }).workdir).toBe(join(ws, 'sub'))
  })

  it('a mode alone changes the mode alone', () => {
    const bash = executorWith(new RecordingProvider(), { ...readOnly(), writableRoots: ['/cache'] })
    const spec = bash.resolve({ command: 'true', sandboxMode: 'workspace-write' })
    expect(spec.sandboxPolicy).toEqual({
      mode: 'workspace-write',
      workspaceRoot: ws,
      writableRoots: ['/cache'],
    })
    expect(bash.sandboxMode).toBe('read-only')
  })

  it('two policies at once do not mix', async () => {
    const provider = new RecordingProvider()
    const bash = executorWith(provider)
    const runIn = async (mode: 'read-only' | 'workspace-write', seconds: string) =>
      (await bash.run(bash.resolve({ command: `sleep ${seconds}; echo ${mode}`, sandboxMode: mode }))).sandbox
        ?.mode
    expect(
      await Promise.all([
        runIn('workspace-write', '0.2'),
        runIn('read-only', '0'),
        runIn('workspace-write', '0'),
      ]),
    ).toEqual(['workspace-write', 'read-only', 'workspace-write'])
    expect(provider.asked.map(({ policy }) => policy.mode).toSorted()).toEqual([
      'read-only',
      'workspace-write',
      'workspace-write',
    ])
  })
})

describe('a provider in trouble', () => {
  const mark = () => `touch ${scratch}/ran`
  const neverRan = () => expect(existsSync(join(scratch, 'ran'))).toBe(false)

  it.each([
    new SandboxUnavailableError('read-only', 'nothing works'),
    new SandboxPolicyError('root-missing', '/ws', 'no'),
    new Error('a bug'),
  ])('that throws is heard as it is: %s', async (error) => {
    const provider: SandboxProvider = {
      confine() {
        throw error
      },
    }
    const bash = executorWith(provider)
    await expect(bash.run(bash.resolve({ command: mark() }))).rejects.toBe(error)
    await expect(bash.runArgv(['touch', join(scratch, 'ran')])).rejects.toBe(error)
    await expect(bash.passArgv(['touch', join(scratch, 'ran')])).rejects.toBe(error)
    expect(() => bash.start(bash.resolve({ command: mark() }))).toThrow(error)
    neverRan()
  })

  it('whose ready() rejects runs nothing in the foreground, and stops no other process in the background', async () => {
    const provider = new RecordingProvider()
    provider.ready = () => Promise.reject(new Error('not ready'))
    const bash = executorWith(provider)
    await expect(bash.run(bash.resolve({ command: mark() }))).rejects.toThrow('not ready')
    neverRan()
    const background = bash.start(bash.resolve({ command: 'echo confined' }))
    await background.done
    expect(provider.calls).toEqual(['confine'])
  })

  it.each([
    ['missing', undefined],
    ['not executable', 0o644],
  ])(
    'whose runner is %s is unavailable: thrown in the foreground, settled in the background',
    async (_, mode) => {
      const path = join(scratch, 'runner')
      if (mode !== undefined) writeFileSync(path, '#!/bin/sh\n', { mode })
      const provider = new RecordingProvider()
      provider.answer = { argv: [path, 'bash', '-c', mark()] }
      const bash = executorWith(provider)
      for (const call of [() => bash.run(bash.resolve({ command: 'x' })), () => bash.passArgv(['x'])]) {
        await expect(call()).rejects.toThrow(
          expect.objectContaining({ code: 'SANDBOX_UNAVAILABLE', mode: 'read-only' }),
        )
      }
      const background = bash.start(bash.resolve({ command: 'x' }))
      await background.done
      expect([background.status, background.exitCode]).toEqual(['killed', null])
      expect(background.sandbox).toEqual({
        mode: 'read-only',
        denied: false,
        enforcement: 'partial',
        runnerFailed: true,
      })
      neverRan()
    },
  )

  it('a directory that is missing is no sandbox trouble', async () => {
    const bash = executorWith(new RecordingProvider())
    await expect(bash.run(bash.resolve({ command: mark(), workdir: 'missing' }))).rejects.toThrow(
      expect.objectContaining({ name: 'BashWorkdirError', code: 'ENOENT' }),
    )
    neverRan()
  })

  it('a directory that the sandbox hides is refused', async () => {
    const provider = new RecordingProvider()
    provider.answer = { maskedRoots: [scratch], visibleRoots: [] }
    const bash = executorWith(provider)
    await expect(bash.run(bash.resolve({ command: mark() }))).rejects.toThrow(
      expect.objectContaining({ rule: 'workdir-hidden' }),
    )
    expect(() => bash.start(bash.resolve({ command: mark() }))).toThrow(SandboxPolicyError)
    neverRan()
  })

  it("a signal that had fired before keeps the caller's own reason", async () => {
    const bash = executorWith(new RecordingProvider())
    const reason = new Error('the caller left')
    const spec = bash.resolve({ command: mark(), signal: AbortSignal.abort(reason) })
    await expect(bash.run(spec)).rejects.toThrow(
      expect.objectContaining({ name: 'AbortError', cause: reason }),
    )
    neverRan()
  })
})

describe('disposal', () => {
  it('ends what runs before the own provider goes', async () => {
    const order: string[] = []
    const bash = new SandboxedBashExecutor(runner, new RecordingProvider(), readOnly(), () => {
      order.push(`after: ${background.status}`)
      return Promise.resolve()
    })
    const background = bash.start(bash.resolve({ command: 'sleep 600' }))
    await bash.dispose()
    expect(order).toEqual(['after: killed'])
    await expect(bash.run(bash.resolve({ command: 'true' }))).rejects.toThrow('disposed')
  })

  it("a given provider is the caller's to dispose", async () => {
    let disposed = 0
    const provider = Object.assign(new RecordingProvider(), {
      dispose: () => {
        disposed += 1
        return Promise.resolve()
      },
    })
    const bash = await createSandboxedBash({ workspaceRoot: ws, provider })
    await bash.dispose()
    expect(disposed).toBe(0)
  })
})

describe.each(['bwrap', 'landlock'] as const)('on this host, %s', (backend) => {
  beforeEach(({ skip }) => skipWithout(skip, NEED_OF[backend]))

  async function make(mode: 'read-only' | 'workspace-write' = 'workspace-write'): Promise<SandboxedBash> {
    const bash = await createSandboxedBash({ mode, workspaceRoot: ws, backend, graceMs: 500 })
    cleanups.push(() => bash.dispose())
    return bash
  }

  it('a write outside fails, is told as denied, and works without confinement', async () => {
    const outside = join(scratch, 'outside')
    const bash = await make()
    const attack = { command: `echo x > ${outside}` }
    const result = await bash.run(bash.resolve(attack))
    expect(existsSync(outside)).toBe(false)
    expect(result).toMatchObject({
      exitCode: 1,
      sandbox: { backend, denied: true, denial: { path: outside } },
    })
    const open = await bash.run(bash.resolve({ ...attack, sandboxMode: 'danger-full-access' }))
    expect(open.exitCode).toBe(0)
    expect(existsSync(outside)).toBe(true)
  })

  it.each([0, 1, 2, 42, 125, 126, 127, 255])("passArgv gives the command's own status %i", async (status) => {
    const bash = await make('read-only')
    const passed = await bash.passArgv(['bash', '-c', `exit ${status}`])
    expect(passed).toMatchObject({ exitCode: status, signal: null, timedOut: false, aborted: false })
    expect(passed.sandbox).toMatchObject({ mode: 'read-only', denied: false, backend })
  })

  it('a command cannot pass for a runner that failed', async () => {
    const bash = await make()
    const fake = 'echo "bwrap: Creating new namespace failed" >&2; echo "landlock-run: pin /ws: Stale" >&2'
    for (const status of [1, 125]) {
      expect((await bash.run(bash.resolve({ command: `${fake}; exit ${status}` }))).exitCode).toBe(status)
    }
    const background = bash.start(bash.resolve({ command: `${fake}; exit 125` }))
    await background.done
    expect(background.sandbox?.runnerFailed).toBeUndefined()
  })

  it('a command finds no status descriptor to write to', async () => {
    const bash = await make()
    const listed = await bash.run(
      bash.resolve({ command: 'ls /proc/self/fd | sort -n | xargs; echo ready >&3' }),
    )
    expect(listed).toMatchObject({ exitCode: 1, stdout: { text: '0 1 2 3\n' } })
    expect(listed.stderr.text).toMatch(/3: Bad file descriptor/)
  })

  const LEFTOVERS = [
    { what: 'nothing', script: 'true', leftover: 0 },
    { what: 'what was waited for', script: 'sleep 0 & wait', leftover: 0 },
    { what: 'a member of its group', script: 'sleep 60 & ', leftover: 1 },
    { what: 'a session of its own', script: 'setsid sleep 60 & sleep 0.05', leftover: 1 },
    { what: 'a double fork', script: '(setsid sleep 60 &) ; sleep 0.05', leftover: 1 },
    { what: 'three', script: 'sleep 60 & sleep 60 & (setsid sleep 60 &); sleep 0.05', leftover: 3 },
  ]
  it.each(LEFTOVERS)('what it left behind is counted: $what', async ({ script, leftover }) => {
    const bash = await make()
    const command = `exec >/dev/null 2>&1; ${script}\nexit 0`
    const spec = bash.resolve({ command })
    expect(await bash.run(spec)).toMatchObject({ exitCode: 0, leftover })
    const background = bash.start(spec)
    expect(background.leftover).toBeUndefined()
    await background.done
    expect(background).toMatchObject({ exitCode: 0, leftover })
    // Nobody counts in the open.
    const open = bash.resolve({ command: 'true', sandboxMode: 'danger-full-access' })
    expect((await bash.run(open)).leftover).toBeUndefined()
  })

  it('a workspace swapped between two calls is refused', async () => {
    const bash = await make()
    await bash.run(bash.resolve({ command: 'true' }))
    renameSync(ws, `${ws}-old`)
    mkdirSync(ws)
    await expect(bash.run(bash.resolve({ command: 'touch ran' }))).rejects.toThrow(
      expect.objectContaining({ rule: 'root-changed' }),
    )
    expect(() => bash.start(bash.resolve({ command: 'touch ran' }))).toThrow(
      expect.objectContaining({ rule: 'root-changed' }),
    )
    expect(existsSync(join(ws, 'ran'))).toBe(false)
  })

  it('BASH_ENV is evaluated inside, and its write outside fails', async () => {
    const outside = join(scratch, 'outside')
    writeFileSync(join(ws, 'env.sh'), `echo x > ${outside}; echo seen > ${ws}/seen`)
    const bash = await make()
    const request = { command: 'true', env: { BASH_ENV: join(ws, 'env.sh') } }
    await bash.run(bash.resolve(request))
    expect([existsSync(join(ws, 'seen')), existsSync(outside)]).toEqual([true, false])
    await bash.run(bash.resolve({ ...request, sandboxMode: 'danger-full-access' }))
    expect(existsSync(outside)).toBe(true)
  })

  it("an explicit TMPDIR wins over the session's", async () => {
    const bash = await make()
    expect((await bash.run(bash.resolve({ command: 'echo $TMPDIR', env: { TMPDIR: ws } }))).stdout.text).toBe(
      `${ws}\n`,
    )
  })
})

describe("an operator's runner that is a shell script", () => {
  beforeEach(({ skip }) => skipWithout(skip, 'bwrap'))

  it('finds no program that a command planted on PATH, while the command itself does', async () => {
    const bin = join(ws, 'bin')
    mkdirSync(bin)
    symlinkSync(ws, join(scratch, 'link'))
    const path = join(scratch, 'runner')
    writeFileSync(path, '#!/bin/sh\nexec bwrap "$@"\n', { mode: 0o755 })
    const provider = createLocalSandboxProvider({
      runnerCommand: [path],
      runnerFailureSignatures: ['bwrap: '],
      stateParent: scratch,
    })
    const bash = await createSandboxedBash({ mode: 'workspace-write', workspaceRoot: ws, provider })
    cleanups.push(
      () => provider.dispose(),
      () => bash.dispose(),
    )
    const outside = join(scratch, 'outside')
    const planted = `#!/bin/sh\necho x > ${outside}\n`
    await bash.run(bash.resolve({ command: `printf '${planted}' > bin/bwrap; chmod 755 bin/bwrap` }))
    const PATH = `${scratch}/link/bin:${bin}:bin:/usr/bin:/bin`
    const found = await bash.run(bash.resolve({ command: 'command -v bwrap', env: { PATH } }))
    expect(found.stdout.text).toBe(`${scratch}/link/bin/bwrap\n`)
    expect(existsSync(outside)).toBe(false)
    await bash.run(bash.resolve({ command: 'bwrap', env: { PATH }, sandboxMode: 'danger-full-access' }))
    expect(existsSync(outside)).toBe(true)
  })

  it('evaluates no BASH_ENV and no exported function of the command', async () => {
    const path = join(scratch, 'runner')
    writeFileSync(path, '#!/bin/bash\nexec /usr/bin/bwrap "$@"\n')
    chmodSync(path, 0o755)
    const provider = createLocalSandboxProvider({
      runnerCommand: [path],
      runnerFailureSignatures: ['bwrap: '],
      stateParent: scratch,
    })
    const bash = await createSandboxedBash({ mode: 'workspace-write', workspaceRoot: ws, provider })
    cleanups.push(
      () => provider.dispose(),
      () => bash.dispose(),
    )
    const outside = join(scratch, 'outside')
    writeFileSync(join(ws, 'env.sh'), `echo x > ${outside}; echo x >> ${ws}/seen`)
    await bash.run(bash.resolve({ command: 'true', env: { BASH_ENV: join(ws, 'env.sh') } }))
    await bash.run(
      bash.resolve({
        command: 'true',
        env: { 'BASH_FUNC_exec%%': `() { echo x > ${outside}; builtin exec "$@"; }` },
      }),
    )
    expect(readFileSync(join(ws, 'seen'), 'utf8')).toBe('x\n')
    expect(existsSync(outside)).toBe(false)
  })
})
