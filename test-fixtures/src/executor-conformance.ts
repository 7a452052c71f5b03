/**
 * What every {@link BashExecutor} must do, as a table of named checks. A check is a plain function that rejects, so that
 * a leaky executor can be held against it too; {@link describeBashExecutor} makes a vitest suite of them.
 */

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import type { BashExecRequest, BashExecutor, BashProcess, BashRunResult } from 'dsh-bash'
import { BashWorkdirError, ownerToken } from 'dsh-bash'
import { isConfinedMode, type SandboxMode } from 'dsh-sandbox'
import { describe, it } from 'vitest'
import { makeGate, processesMarked, program, release, until, withFolder } from './scratch.ts'

/** Settings that every executor takes. */
export interface ExecutorOptions {
  /** The executor's own directory, and the workspace of one that confines. */
  readonly cwd: string
  readonly timeoutMs?: number
  readonly maxTimeoutMs?: number
  readonly maxOutputBytes?: number
  readonly maxSpillBytes?: number
  readonly graceMs?: number
}

/** In which ways an executor may differ. */
export interface ExecutorTraits {
  /** What it says of itself; `undefined` confines nothing. */
  readonly sandboxMode: SandboxMode | undefined
  /** True: a signal death is reported as that signal. False: as the exit status 128 + n. */
  readonly exactSignals: boolean
  /** True: a process that left the command's group and session ends with it too. False: such a process stays. */
  readonly endsOtherSessions: boolean
}

export type MakeExecutor = (options: ExecutorOptions) => Promise<BashExecutor>

export interface ExecutorBench {
  readonly make: MakeExecutor
  readonly traits: ExecutorTraits
  /** An empty folder of the check's own. */
  readonly folder: string
}

export type ExecutorCheck = (bench: ExecutorBench) => Promise<void>

type Settings = Omit<ExecutorOptions, 'cwd'>

/** Milliseconds between TERM and KILL in these checks. */
const GRACE_MS = 300

async function withBash(
  bench: ExecutorBench,
  settings: Settings,
  use: (bash: BashExecutor) => Promise<void>,
): Promise<void> {
  const bash = await bench.make({ cwd: bench.folder, graceMs: GRACE_MS, ...settings })
  try {
    await use(bash)
  } finally {
    await bash.dispose()
  }
}

function check(
  settings: Settings,
  use: (bash: BashExecutor, bench: ExecutorBench) => Promise<void>,
): ExecutorCheck {
  return (bench) => withBash(bench, settings, (bash) => use(bash, bench))
}

function run(bash: BashExecutor, request: BashExecRequest | string): Promise<BashRunResult> {
  return bash.run(bash.resolve(typeof request === 'string' ? { command: request } : request))
}

function start(bash: BashExecutor, request: BashExecRequest | string): BashProcess {
  return bash.start(bash.resolve(typeof request === 'string' ? { command: request } : request))
}

const SIGNAL_NUMBER = { SIGTERM: 15, SIGKILL: 9 } as const

/** How this executor reports that `signal` ended a command. */
function signalDeath(traits: ExecutorTraits, signal: keyof typeof SIGNAL_NUMBER) {
  return traits.exactSignals
    ? { exitCode: null, signal }
    : { exitCode: 128 + SIGNAL_NUMBER[signal], signal: null }
}

function ending({ exitCode, signal }: Pick<BashRunResult, 'exitCode' | 'signal'>) {
  return { exitCode, signal }
}

function causes({ timedOut, aborted }: BashRunResult) {
  return { timedOut, aborted }
}

/** A variable that marks everything a command starts. */
function marked(): { readonly marker: string; readonly env: Record<string, string> } {
  const marker = randomUUID()
  return { marker, env: { CONFORMANCE_MARK: marker } }
}

const RESOLVE_CHECKS = {
  'resolve fills in every default': check({}, async (bash, { folder, traits }) => {
    const { sandboxPolicy, ...spec } = bash.resolve({ command: 'true' })
    assert.deepEqual(spec, {
      command: 'true',
      workdir: folder,
      timeoutMs: 120_000,
      stdoutMaxBytes: 64_000,
      signal: undefined,
      stdin: undefined,
      env: undefined,
      dshEnv: undefined,
      owner: undefined,
      sandboxMode: traits.sandboxMode,
    })
    assert.equal(sandboxPolicy?.mode, traits.sandboxMode)
    assert.equal(bash.sandboxMode, traits.sandboxMode)
  }),
  'resolve carries through what was asked for': check({}, async (bash, { folder }) => {
    const signal = new AbortController().signal
    const asked = {
      stdin: 'in',
      env: { A: '1' },
      dshEnv: { DSH_A: '2' },
      owner: ownerToken('me'),
      signal,
      stdoutMaxBytes: 7,
    }
    const {
      stdin,
      env,
      dshEnv,
      owner,
      signal: carried,
      stdoutMaxBytes,
    } = bash.resolve({ command: 'true', ...asked })
    assert.deepEqual({ stdin, env, dshEnv, owner, signal: carried, stdoutMaxBytes }, asked)
    assert.equal(bash.resolve({ command: 'true', workdir: 'sub' }).workdir, `${folder}/sub`)
    assert.equal(bash.resolve({ command: 'true', workdir: '/usr' }).workdir, '/usr')
  }),
  'resolve caps the timeout': check({ timeoutMs: 1_000, maxTimeoutMs: 2_000 }, async (bash) => {
    assert.equal(bash.resolve({ command: 'true' }).timeoutMs, 1_000)
    assert.equal(bash.resolve({ command: 'true', timeoutMs: 2_001 }).timeoutMs, 2_000)
  }),
  'resolve refuses what no command could run with': check({}, async (bash) => {
    const refused: readonly Partial<BashExecRequest>[] = [
      { timeoutMs: 0 },
      { timeoutMs: -1 },
      { timeoutMs: Number.NaN },
      { timeoutMs: Number.POSITIVE_INFINITY },
      { env: { DSH_HOME: '/x' } },
      { env: { dsh_home: '/x' } },
      // The type forbids it; a caller without types can still do it.
      { dshEnv: { PATH: '/x' } as never },
    ]
    for (const part of refused)
      assert.throws(() => bash.resolve({ command: 'true', ...part }), TypeError, JSON.stringify(part))
  }),
  'a mode for one call leaves the next alone': check({}, async (bash, { traits }) => {
    const wider = bash.resolve({ command: 'true', sandboxMode: 'danger-full-access' })
    assert.equal(wider.sandboxMode, 'danger-full-access')
    if (traits.sandboxMode !== undefined) assert.equal(wider.sandboxPolicy?.mode, 'danger-full-access')
    assert.equal(bash.resolve({ command: 'true' }).sandboxMode, traits.sandboxMode)
  }),
} as const satisfies Record<string, ExecutorCheck>

const RUN_CHECKS = {
  'a result states every fact': check({}, async (bash, { traits }) => {
    // Absent from an executor that does not count.
    const {
      sandbox,
      leftover = 0,
      ...result
    } = await run(bash, {
      command: 'echo out; echo err >&2; exit 3',
      timeoutMs: 5_000,
    })
    assert.deepEqual(result, {
      exitCode: 3,
      signal: null,
      timedOut: false,
      aborted: false,
      timeoutMs: 5_000,
      stdout: { text: 'out\n', truncated: false },
      stderr: { text: 'err\n', truncated: false },
    })
    assert.equal(leftover, 0)
    assert.deepEqual({ mode: sandbox?.mode, denied: sandbox?.denied }, expectedSandbox(traits))
  }),
  'a signal death is a result': check({}, async (bash, { traits }) => {
    const result = await run(bash, 'kill -KILL $$')
    assert.deepEqual(ending(result), signalDeath(traits, 'SIGKILL'))
    assert.deepEqual(causes(result), { timedOut: false, aborted: false })
  }),
  'bash is not a login shell and keeps no state': check({}, async (bash) => {
    await run(bash, 'value=kept; cd /')
    const { stdout } = await run(bash, 'shopt -q login_shell || echo plain; echo "[$value]"; pwd')
    assert.match(stdout.text, /^plain\n\[\]\n\/var\/tmp\//)
  }),
  'a missing workdir is its own error': check({}, async (bash, { folder }) => {
    const gone = `${folder}/gone`
    await assert.rejects(run(bash, { command: 'true', workdir: gone }), (error) => {
      assert.ok(error instanceof BashWorkdirError)
      assert.deepEqual({ code: error.code, workdir: error.workdir }, { code: 'ENOENT', workdir: gone })
      return true
    })
  }),
  'a command of one megabyte runs': check({}, async (bash) => {
    const { exitCode, stdout } = await run(bash, `echo ran # ${'x'.repeat(1_000_000)}`)
    assert.deepEqual({ exitCode, text: stdout.text }, { exitCode: 0, text: 'ran\n' })
  }),
  'a process that holds the pipes does not hold the result': check({}, async (bash, { traits }) => {
    const { marker, env } = marked()
    const { stdout, exitCode } = await run(bash, { command: program('hold-pipe.sh'), env })
    const left = processesMarked(marker)
    left.forEach((pid) => process.kill(Number(pid), 'SIGKILL'))
    assert.deepEqual({ exitCode, text: stdout.text }, { exitCode: 0, text: 'left\n' })
    assert.equal(left.length, traits.endsOtherSessions ? 0 : 1)
  }),
  'commands run side by side': check({}, async (bash) => {
    const results = await Promise.all(
      [1, 2, 3, 4].map((number) => run(bash, `echo ${number}; exit ${number}`)),
    )
    assert.deepEqual(
      results.map(({ exitCode, stdout }) => [exitCode, stdout.text]),
      [1, 2, 3, 4].map((number) => [number, `${number}\n`]),
    )
  }),
} as const satisfies Record<string, ExecutorCheck>

function expectedSandbox({ sandboxMode }: ExecutorTraits) {
  return sandboxMode === undefined
    ? { mode: undefined, denied: undefined }
    : { mode: sandboxMode, denied: false }
}

const ENDING_CHECKS = {
  'a timeout ends the command': check({}, async (bash, { traits }) => {
    const result = await run(bash, { command: 'sleep 60', timeoutMs: 100 })
    assert.deepEqual(causes(result), { timedOut: true, aborted: false })
    assert.deepEqual(ending(result), signalDeath(traits, 'SIGTERM'))
    assert.equal(result.timeoutMs, 100)
  }),
  'a command that ends itself on TERM has timed out and exited 0': check({ graceMs: 5_000 }, async (bash) => {
    const command = 'trap "echo bye; exit 0" TERM; sleep 60 & wait'
    const result = await run(bash, { command, timeoutMs: 300 })
    assert.deepEqual(causes(result), { timedOut: true, aborted: false })
    assert.deepEqual(ending(result), { exitCode: 0, signal: null })
    assert.equal(result.stdout.text, 'bye\n')
  }),
  'a command that ignores TERM is killed after the grace': check({ graceMs: 100 }, async (bash) => {
    const { marker, env } = marked()
    const result = await run(bash, {
      command: 'trap "" TERM; while :; do sleep 60; done',
      timeoutMs: 200,
      env,
    })
    assert.deepEqual(causes(result), { timedOut: true, aborted: false })
    assert.deepEqual(ending(result), { exitCode: null, signal: 'SIGKILL' })
    await until('every process to be gone', () => processesMarked(marker).length === 0)
  }),
  'an abort ends the command': check({ graceMs: 5_000 }, async (bash, { folder }) => {
    const gate = makeGate(folder)
    const controller = new AbortController()
    const running = run(bash, {
      command: `${program('exit-on-term.sh')} ${gate.path}`,
      signal: controller.signal,
    })
    await release(await gate.reached())
    controller.abort()
    assert.deepEqual(causes(await running), { timedOut: false, aborted: true })
  }),
  'an abort before the start starts nothing': check({}, async (bash) => {
    const { marker, env } = marked()
    const reason = new Error('changed my mind')
    const running = run(bash, { command: 'sleep 60', signal: AbortSignal.abort(reason), env })
    await assert.rejects(
      running,
      (error) => error === reason || (error instanceof Error && error.cause === reason),
    )
    assert.deepEqual(processesMarked(marker), [])
  }),
  'the first cause stands': check({ graceMs: 5_000 }, async (bash) => {
    const controller = new AbortController()
    const command = 'trap "sleep 0.3; exit 0" TERM; sleep 60 & wait'
    const running = run(bash, { command, timeoutMs: 200, signal: controller.signal })
    setTimeout(() => controller.abort(), 350)
    assert.deepEqual(causes(await running), { timedOut: true, aborted: false })
  }),
} as const satisfies Record<string, ExecutorCheck>

/** Prints `count` bytes whose tail can be told from their head. */
function manyBytes(count: number): string {
  return `{ head -c ${count - 4} /dev/zero | tr '\\0' x; printf tail; }`
}

const OUTPUT_CHECKS = {
  'output at the bound is whole': check({ maxOutputBytes: 1_000 }, async (bash) => {
    const { stdout } = await run(bash, manyBytes(1_000))
    assert.deepEqual(stdout, { text: `${'x'.repeat(996)}tail`, truncated: false })
  }),
  'output past the bound keeps its tail, and a file has all of it': check(
    { maxOutputBytes: 1_000 },
    async (bash) => {
      const { stdout, stderr } = await run(bash, `${manyBytes(5_000)}; ${manyBytes(3_000)} >&2`)
      for (const [stream, size] of [
        [stdout, 5_000],
        [stderr, 3_000],
      ] as const) {
        assert.deepEqual(
          { text: stream.text, truncated: stream.truncated },
          { text: `${'x'.repeat(996)}tail`, truncated: true },
        )
        assert.equal(readFileSync(stream.spillPath ?? '', 'latin1'), `${'x'.repeat(size - 4)}tail`)
        assert.equal(statSync(stream.spillPath ?? '').mode & 0o777, 0o600)
      }
    },
  ),
  'the next command can read the file': check({ maxOutputBytes: 1_000 }, async (bash) => {
    const { stdout } = await run(bash, manyBytes(5_000))
    const { spillPath } = stdout
    assert.ok(spillPath !== undefined)
    const read = await run(bash, `wc -c < '${spillPath}'; tail -c 4 '${spillPath}'`)
    assert.deepEqual({ exitCode: read.exitCode, text: read.stdout.text }, { exitCode: 0, text: '5000\ntail' })
  }),
  'output past what a file may hold has no file': check(
    { maxOutputBytes: 1_000, maxSpillBytes: 2_000 },
    async (bash) => {
      const { stdout } = await run(bash, manyBytes(5_000))
      assert.deepEqual(stdout, { text: `${'x'.repeat(996)}tail`, truncated: true })
    },
  ),
  'a request can keep more of stdout, and of stdout alone': check({ maxOutputBytes: 1_000 }, async (bash) => {
    const command = `${manyBytes(5_000)}; ${manyBytes(5_000)} >&2`
    const { stdout, stderr } = await run(bash, { command, stdoutMaxBytes: 5_000 })
    assert.deepEqual(stdout, { text: `${'x'.repeat(4_996)}tail`, truncated: false })
    assert.equal(stderr.truncated, true)
  }),
} as const satisfies Record<string, ExecutorCheck>

const INPUT_CHECKS = {
  'without input stdin is the null device': check({}, async (bash) => {
    const { stdout } = await run(bash, 'readlink /proc/self/fd/0; wc -c')
    assert.equal(stdout.text, '/dev/null\n0\n')
  }),
  'input arrives whole': check({}, async (bash) => {
    const { stdout } = await run(bash, { command: 'wc -c', stdin: 'x'.repeat(1_000_000) })
    assert.equal(stdout.text, '1000000\n')
  }),
  'empty input is input': check({}, async (bash) => {
    const { stdout } = await run(bash, { command: 'wc -c', stdin: '' })
    assert.equal(stdout.text, '0\n')
  }),
  'input that nobody reads is no error': check({}, async (bash) => {
    const result = await run(bash, { command: 'exec 0<&-; exit 4', stdin: 'x'.repeat(1_000_000) })
    assert.deepEqual(ending(result), { exitCode: 4, signal: null })
  }),
  'the environment is scrubbed, then completed': check({}, async (bash) => {
    await withAmbient(
      { CONFORMANCE_TOKEN: 'ambient', DSH_CONFORMANCE: 'ambient', CONFORMANCE_PLAIN: 'ambient' },
      async () => {
        const names = [
          'CONFORMANCE_TOKEN',
          'DSH_CONFORMANCE',
          'CONFORMANCE_PLAIN',
          'NO_COLOR',
          'TERM',
          'PAGER',
          'GIT_PAGER',
        ]
        const { stdout } = await run(bash, names.map((name) => `echo "${name}=\${${name}-unset}"`).join(';'))
        assert.deepEqual(stdout.text.trim().split('\n'), [
          'CONFORMANCE_TOKEN=unset',
          'DSH_CONFORMANCE=unset',
          'CONFORMANCE_PLAIN=ambient',
          'NO_COLOR=1',
          'TERM=dumb',
          'PAGER=cat',
          'GIT_PAGER=cat',
        ])
      },
    )
  }),
  'what the caller names wins over the scrub': check({}, async (bash) => {
    const command = 'echo "$CONFORMANCE_TOKEN $PAGER $DSH_CONFORMANCE"'
    const env = { CONFORMANCE_TOKEN: 'given', PAGER: 'less' }
    const { stdout } = await run(bash, { command, env, dshEnv: { DSH_CONFORMANCE: 'fact' } })
    assert.equal(stdout.text, 'given less fact\n')
  }),
} as const satisfies Record<string, ExecutorCheck>

async function withAmbient(
  variables: Readonly<Record<string, string>>,
  use: () => Promise<void>,
): Promise<void> {
  Object.assign(process.env, variables)
  try {
    await use()
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name]
  }
}

const BACKGROUND_CHECKS = {
  'a background process runs, then is completed': check({}, async (bash, { folder, traits }) => {
    const gate = makeGate(folder)
    const child = start(bash, `read -r _ < ${gate.path}; echo done; exit 3`)
    assert.deepEqual(
      [child.status, child.exitCode, child.signal, child.sandbox],
      ['running', null, null, undefined],
    )
    await release(await gate.reached())
    const stamped = child.done.then(() => child.sandbox)
    await child.done
    assert.deepEqual([child.status, child.exitCode, child.signal], ['completed', 3, null])
    if (isConfined(traits)) assert.deepEqual((await stamped)?.mode, traits.sandboxMode)
    assert.deepEqual(child.readOutput(), { delta: 'done\n', lossy: false })
  }),
  'each byte is read once': check({}, async (bash, { folder }) => {
    const gate = makeGate(folder)
    const child = start(bash, `echo one; read -r _ < ${gate.path}; echo two; echo bad >&2`)
    const reached = await gate.reached()
    assert.equal(await until('the first line', () => child.readOutput().delta || undefined), 'one\n')
    assert.deepEqual(child.readOutput(), { delta: '', lossy: false })
    await release(reached)
    await child.done
    assert.deepEqual(child.readOutput(), { delta: 'two\n[stderr]\nbad\n', lossy: false })
    assert.deepEqual(child.readOutput(), { delta: '', lossy: false })
  }),
  'a read never splits a character': check({}, async (bash, { folder }) => {
    const gate = makeGate(folder)
    const child = start(bash, `printf 'a\\342\\202'; read -r _ < ${gate.path}; printf '\\254b'`)
    const reached = await gate.reached()
    assert.equal(await until('the first byte', () => child.readOutput().delta || undefined), 'a')
    await release(reached)
    await child.done
    assert.equal(child.readOutput().delta, '€b')
  }),
  'a background process has no timeout': check({}, async (bash, { folder }) => {
    const gate = makeGate(folder)
    const child = start(bash, { command: `read -r _ < ${gate.path}; echo alive`, timeoutMs: 1 })
    const reached = await gate.reached()
    await run(bash, 'true')
    assert.equal(child.status, 'running')
    await release(reached)
    await child.done
    assert.equal(child.readOutput().delta, 'alive\n')
  }),
  'kill ends it once': check({}, async (bash, { folder, traits }) => {
    const gate = makeGate(folder)
    const child = start(bash, `read -r _ < ${gate.path}; sleep 60`)
    await release(await gate.reached())
    assert.equal(child.kill(), true)
    await child.done
    assert.deepEqual(
      { status: child.status, ...ending(child) },
      { status: 'killed', ...signalDeath(traits, 'SIGTERM') },
    )
    assert.equal(child.kill(), false)
    assert.equal(child.kill(), false)
  }),
  'an abort ends it': check({}, async (bash, { folder }) => {
    const gate = makeGate(folder)
    const controller = new AbortController()
    const child = start(bash, { command: `read -r _ < ${gate.path}; sleep 60`, signal: controller.signal })
    await release(await gate.reached())
    controller.abort()
    await child.done
    assert.equal(child.status, 'killed')
  }),
  'a process that cannot start settles as killed': check({}, async (bash, { folder }) => {
    const child = start(bash, { command: 'true', workdir: `${folder}/gone` })
    await child.done
    assert.deepEqual([child.status, child.exitCode], ['killed', null])
    assert.match(child.readOutput().delta, /does not exist/)
  }),
  'lost output is said to be lost, and a file has it': check({ maxOutputBytes: 1_000 }, async (bash) => {
    const child = start(bash, manyBytes(5_000))
    await child.done
    const { delta, lossy, stdoutSpillPath } = child.readOutput()
    assert.deepEqual([delta.endsWith('tail'), lossy], [true, true])
    assert.equal(statSync(stdoutSpillPath ?? '').size, 5_000)
  }),
  'dispose ends everything and waits': async (bench) => {
    const { marker, env } = marked()
    const gate = makeGate(bench.folder)
    const bash = await bench.make({ cwd: bench.folder, graceMs: 100 })
    const stubborn = start(bash, { command: `${program('ignore-term.sh')} ${gate.path}`, env })
    await release(await gate.reached())
    assert.ok(processesMarked(marker).length > 0)
    await bash.dispose()
    assert.deepEqual(processesMarked(marker), [])
    await stubborn.done
    assert.equal(stubborn.status, 'killed')
  },
  'dispose can be called twice': async (bench) => {
    const bash = await bench.make({ cwd: bench.folder })
    await bash.dispose()
    await bash.dispose()
  },
} as const satisfies Record<string, ExecutorCheck>

function isConfined({ sandboxMode }: ExecutorTraits): boolean {
  return sandboxMode !== undefined && isConfinedMode(sandboxMode)
}

/** Every check by name. */
export const EXECUTOR_CHECKS: Readonly<Record<string, ExecutorCheck>> = {
  ...RESOLVE_CHECKS,
  ...RUN_CHECKS,
  ...ENDING_CHECKS,
  ...OUTPUT_CHECKS,
  ...INPUT_CHECKS,
  ...BACKGROUND_CHECKS,
}

/** A vitest suite that holds what `make` makes against every check. */
export function describeBashExecutor(name: string, traits: ExecutorTraits, make: MakeExecutor): void {
  describe(`${name} as a BashExecutor`, () => {
    for (const [title, holds] of Object.entries(EXECUTOR_CHECKS)) {
      it(title, () => withFolder((folder) => holds({ make, traits, folder })))
    }
  })
}
