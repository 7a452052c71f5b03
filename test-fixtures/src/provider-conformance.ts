/**
 * What every {@link SandboxProvider} must do, as a table of named checks. A check is a plain function that rejects, so
 * that a leaky provider can be held against it too; {@link describeSandboxProvider} makes a vitest suite of them.
 */

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs'
import { isAbsolute, join } from 'node:path'
import {
  type ConfinedArgv,
  SANDBOX_BACKENDS,
  SANDBOX_EFFECTS,
  SandboxPolicyError,
  type SandboxPolicy,
  type SandboxPolicyRule,
  type SandboxProvider,
  SandboxUnavailableError,
} from 'dsh-sandbox'
import { describe, it } from 'vitest'
import { withFolder } from './scratch.ts'

export interface ProviderBench {
  /** A provider that nobody has waited for yet. The check disposes it. */
  readonly make: () => SandboxProvider
  /** Holds `ws`, `other` and `outside`, each empty. */
  readonly folder: string
}

export type ProviderCheck = (bench: ProviderBench) => Promise<void>

/** A provider that is ready, and three folders. */
interface Ground {
  readonly provider: SandboxProvider
  readonly ws: string
  readonly other: string
  readonly outside: string
}

function check(use: (ground: Ground) => Promise<void> | void): ProviderCheck {
  return async ({ make, folder }) => {
    const provider = make()
    try {
      await provider.ready?.()
      await use({ provider, ...foldersIn(folder) })
    } finally {
      await provider.dispose?.()
    }
  }
}

function foldersIn(folder: string): Omit<Ground, 'provider'> {
  const [ws, other, outside] = [join(folder, 'ws'), join(folder, 'other'), join(folder, 'outside')]
  for (const path of [ws, other, outside]) mkdirSync(path, { recursive: true })
  return { ws, other, outside }
}

function writing(workspaceRoot: string, more: Partial<SandboxPolicy> = {}): SandboxPolicy {
  return { mode: 'workspace-write', workspaceRoot, ...more }
}

function reading(workspaceRoot: string, more: Partial<SandboxPolicy> = {}): SandboxPolicy {
  return { mode: 'read-only', workspaceRoot, ...more }
}

interface Ran {
  readonly status: number
  readonly stdout: string
  readonly stderr: string
}

/** Runs a confined argv as it is: no shell, no channel. */
function execute({ argv }: Pick<ConfinedArgv, 'argv'>): Promise<Ran> {
  const [program = '', ...args] = argv
  return new Promise((resolve) => {
    const child = execFile(program, args, { cwd: '/', timeout: 20_000 }, (_error, stdout, stderr) =>
      resolve({ status: child.exitCode ?? -1, stdout, stderr }),
    )
    child.stdin?.end()
  })
}

function confineScript(provider: SandboxProvider, script: string, policy: SandboxPolicy): ConfinedArgv {
  return provider.confine(['bash', '-c', script], policy)
}

function runScript(provider: SandboxProvider, script: string, policy: SandboxPolicy): Promise<Ran> {
  return execute(confineScript(provider, script, policy))
}

/** Arguments that a shell, a trimmer or an option parser would spoil. */
const AWKWARD = [
  'two words',
  'line one\nline two',
  `it's "quoted"`,
  '--version',
  '-',
  '--',
  '',
  '$HOME',
  '*',
  'ä €',
] as const

const SHAPE_CHECKS = {
  'the argv is a program by its absolute path': check(({ provider, ws }) => {
    const { argv } = confineScript(provider, 'true', reading(ws))
    assert.ok(isAbsolute(argv[0] ?? ''), argv[0])
    assert.ok(statSync(argv[0] ?? '').isFile())
  }),
  'the argv that was given is never what comes back': check(({ provider, ws }) => {
    for (const given of [['bash', '-c', 'true'], ['/bin/bash', '-c', 'true'], ['true']]) {
      const { argv } = provider.confine(given, reading(ws))
      assert.ok(argv.length > given.length, argv.join(' '))
      assert.deepEqual(argv.slice(-given.length), given)
    }
  }),
  'confine answers at once and leaves its arguments alone': check(({ provider, ws }) => {
    const given = Object.freeze(['bash', '-c', 'true'])
    const answer: unknown = provider.confine(given, Object.freeze(reading(ws)))
    assert.ok(!(answer instanceof Promise))
  }),
  'what comes with the argv is well formed': check(({ provider, ws }) => {
    const { enforcement, denialSignatures, runnerFailureRules, backend, effects } = confineScript(
      provider,
      'true',
      writing(ws),
    )
    assert.ok(enforcement === 'full' || enforcement === 'partial')
    assert.ok(denialSignatures.length > 0)
    assert.ok(denialSignatures.every((signature) => signature.trim() !== ''))
    for (const { fatalSignatures, allowedExitCodes = [] } of runnerFailureRules) {
      assert.ok(fatalSignatures.length > 0)
      assert.ok(fatalSignatures.every((signature) => signature.trim() !== '' && !signature.includes('\n')))
      assert.ok(!allowedExitCodes.includes(0))
    }
    if (backend !== undefined) assert.ok(SANDBOX_BACKENDS.includes(backend))
    if (effects !== undefined)
      assert.deepEqual(Object.keys(effects).toSorted(), [...SANDBOX_EFFECTS].toSorted())
  }),
  'roots are canonical, and hold the workspace exactly when it is writable': check(
    ({ provider, ws, outside }) => {
      const alias = join(outside, 'alias')
      symlinkSync(ws, alias)
      const opened = confineScript(provider, 'true', writing(alias)).writableRoots
      const closed = confineScript(provider, 'true', reading(alias)).writableRoots
      if (opened !== undefined) assert.equal(opened.includes(ws), true)
      if (closed !== undefined) assert.equal(closed.includes(ws), false)
      for (const root of [...(opened ?? []), ...(closed ?? [])])
        assert.ok(isAbsolute(root) && !root.endsWith('/'), root)
    },
  ),
  'every argument arrives as it was given': check(async ({ provider, ws }) => {
    const print = ['/usr/bin/printf', '[%s]', ...AWKWARD]
    const { status, stdout, stderr } = await execute(provider.confine(print, reading(ws)))
    assert.deepEqual(
      { status, stdout, stderr },
      { status: 0, stdout: AWKWARD.map((part) => `[${part}]`).join(''), stderr: '' },
    )
  }),
  'the status of the command is the status of the argv': check(async ({ provider, ws }) => {
    for (const status of [0, 1, 2, 125, 126, 127, 255]) {
      assert.equal((await runScript(provider, `exit ${status}`, reading(ws))).status, status)
    }
  }),
  'an argv without a program is a mistake of the caller': check(({ provider, ws }) => {
    assert.throws(() => provider.confine([], reading(ws)), TypeError)
  }),
} as const satisfies Record<string, ProviderCheck>

const ENFORCEMENT_CHECKS = {
  'read-only closes the workspace and opens the temp': check(async ({ provider, ws }) => {
    const script = `echo x > '${ws}/new'; echo y > "$TMPDIR/new" && cat "$TMPDIR/new"`
    await assertWorksInTheOpen(`echo x > '${ws}/control'`, join(ws, 'control'))
    const { status, stdout } = await runScript(provider, script, reading(ws))
    assert.equal(existsSync(join(ws, 'new')), false)
    assert.deepEqual({ status, stdout }, { status: 0, stdout: 'y\n' })
  }),
  'workspace-write opens the workspace and closes the rest': check(async ({ provider, ws, outside }) => {
    await assertWorksInTheOpen(`echo x > '${outside}/control'`, join(outside, 'control'))
    const { status, stderr } = await runScript(
      provider,
      `echo x > '${ws}/new'; echo x > '${outside}/new'`,
      writing(ws),
    )
    assert.equal(existsSync(join(outside, 'new')), false)
    assert.equal(readFileSync(join(ws, 'new'), 'utf8'), 'x\n')
    assert.equal(status, 1)
    const { denialSignatures } = confineScript(provider, 'true', writing(ws))
    assert.ok(
      denialSignatures.some((signature) => stderr.toLowerCase().includes(signature.toLowerCase())),
      stderr,
    )
  }),
  'the parent of the workspace stays closed': check(async ({ provider, ws }) => {
    await runScript(provider, `echo x > '${ws}/../beside'`, writing(ws))
    assert.equal(existsSync(join(ws, '..', 'beside')), false)
  }),
  "the host's /tmp stays closed": check(({ provider, ws }) =>
    withFolder(async (canary) => {
      await runScript(provider, `echo x > '${canary}/new'`, writing(ws))
      assert.equal(existsSync(join(canary, 'new')), false)
    }, '/tmp'),
  ),
  'further roots are opened, in workspace-write alone': check(async ({ provider, ws, other }) => {
    await runScript(provider, `echo x > '${other}/new'`, reading(ws, { writableRoots: [other] }))
    assert.equal(existsSync(join(other, 'new')), false)
    await runScript(provider, `echo x > '${other}/new'`, writing(ws, { writableRoots: [other] }))
    assert.equal(existsSync(join(other, 'new')), true)
  }),
  'the policy is that of the call': check(async ({ provider, ws, other }) => {
    const script = `echo x > '${ws}/new'; echo x > '${other}/new'`
    await Promise.all([runScript(provider, script, writing(ws)), runScript(provider, 'true', writing(other))])
    assert.deepEqual([existsSync(join(ws, 'new')), existsSync(join(other, 'new'))], [true, false])
    await runScript(provider, `rm '${ws}/new'; echo x > '${other}/new'`, writing(other))
    assert.deepEqual([existsSync(join(ws, 'new')), existsSync(join(other, 'new'))], [true, true])
    await runScript(provider, `echo y > '${other}/new'`, reading(other))
    assert.equal(readFileSync(join(other, 'new'), 'utf8'), 'x\n')
  }),
  'sessions have a temp each, kept between calls': check(async ({ provider, ws }) => {
    const [one, two] = [reading(ws, { sessionId: 'one' }), reading(ws, { sessionId: 'two' })]
    const write = (text: string): string => `echo ${text} > "$TMPDIR/note"`
    await Promise.all([runScript(provider, write('first'), one), runScript(provider, write('second'), two)])
    const read = async (policy: SandboxPolicy): Promise<string> =>
      (await runScript(provider, 'cat "$TMPDIR/note"; stat -c %a "$TMPDIR"', policy)).stdout
    assert.deepEqual([await read(one), await read(two)], ['first\n700\n', 'second\n700\n'])
  }),
  'a session that has ended leaves nothing': check(async ({ provider, ws }) => {
    const policy = reading(ws, { sessionId: 'brief' })
    await runScript(provider, 'echo x > "$TMPDIR/note"', policy)
    await provider.endSession?.('brief')
    await provider.endSession?.('never seen')
    assert.equal((await runScript(provider, 'cat "$TMPDIR/note"', policy)).stdout, '')
  }),
} as const satisfies Record<string, ProviderCheck>

/** What is denied inside must work outside, or the denial proves nothing. */
async function assertWorksInTheOpen(script: string, made: string): Promise<void> {
  await execute({ argv: ['/bin/bash', '-c', script] })
  assert.equal(existsSync(made), true)
}

function refuses(ground: Ground, policy: SandboxPolicy, rule: SandboxPolicyRule, subject?: string): void {
  assert.throws(
    () => confineScript(ground.provider, 'true', policy),
    (error) => {
      assert.ok(error instanceof SandboxPolicyError, String(error))
      assert.equal(error.rule, rule)
      if (subject !== undefined) assert.equal(error.subject, subject)
      return true
    },
  )
}

/** Restrictions that a policy may ask for. A provider that enforces one is held to it elsewhere. */
const RESTRICTIONS = {
  hiddenPaths: (ws) => ({ hiddenPaths: [join(ws, 'secret')] }),
  protectedPaths: (ws) => ({ protectedPaths: [join(ws, 'kept')] }),
  network: () => ({ network: 'none' }),
  unixSockets: () => ({ unixSockets: 'none' }),
  limits: () => ({ limits: { processes: 10 } }),
} as const satisfies Record<string, (ws: string) => Partial<SandboxPolicy>>

const REFUSAL_CHECKS = {
  'full access is not asked of a provider': check(({ provider, ws }) => {
    // The types forbid both; a caller without types can still do it.
    const modes = ['danger-full-access', 'nonsense', '', undefined] as never[]
    for (const mode of modes)
      assert.throws(() => confineScript(provider, 'true', { mode, workspaceRoot: ws }))
  }),
  'a root that is no workspace is refused': check((ground) => {
    const { ws, outside } = ground
    const [file, slash] = [join(outside, 'file'), join(outside, 'slash')]
    writeFileSync(file, '')
    symlinkSync('/', slash)
    for (const policy of [reading, writing]) {
      refuses(ground, policy('/'), 'root-is-filesystem-root', '/')
      refuses(ground, policy('/usr/..'), 'root-is-filesystem-root')
      refuses(ground, policy(slash), 'root-is-filesystem-root')
      refuses(ground, policy(join(ws, 'gone')), 'root-missing', join(ws, 'gone'))
      refuses(ground, policy(file), 'root-not-directory')
      refuses(ground, policy('relative'), 'root-not-absolute')
      refuses(ground, policy('/proc'), 'root-is-kernel-filesystem')
    }
  }),
  'a further root is held to the same rules': check((ground) => {
    const { ws } = ground
    refuses(ground, writing(ws, { writableRoots: ['/'] }), 'root-is-filesystem-root', '/')
    refuses(ground, writing(ws, { writableRoots: [join(ws, 'gone')] }), 'root-missing')
  }),
  'a restriction that cannot be enforced is refused by name': check((ground) => {
    for (const [field, restriction] of Object.entries(RESTRICTIONS)) {
      refuses(ground, writing(ground.ws, restriction(ground.ws)), 'not-enforceable', field)
    }
  }),
  'what requires an effect that is open is refused by name': check((ground) => {
    const { effects } = confineScript(ground.provider, 'true', writing(ground.ws))
    const open = SANDBOX_EFFECTS.filter((effect) => effects?.[effect] !== 'enforced')
    const enforced = SANDBOX_EFFECTS.filter((effect) => effects?.[effect] === 'enforced')
    confineScript(ground.provider, 'true', { ...writing(ground.ws), requires: enforced })
    for (const effect of open) {
      const policy = { ...writing(ground.ws), requires: [...enforced, effect] }
      refuses(ground, policy, 'effect-open', effect)
    }
  }),
  'a root that was swapped is refused': check((ground) => {
    const { provider, ws, other, outside } = ground
    const alias = join(outside, 'alias')
    symlinkSync(ws, alias)
    confineScript(provider, 'true', writing(alias))
    swapLink(alias, other)
    refuses(ground, writing(alias), 'root-changed', alias)
  }),
  'before it is ready, and after its end, a provider refuses': async ({ make, folder }) => {
    const provider = make()
    const { ws } = foldersIn(folder)
    const refusal = (error: unknown): boolean =>
      error instanceof SandboxUnavailableError && error.mode === 'read-only'
    try {
      if (provider.ready !== undefined)
        assert.throws(() => confineScript(provider, 'true', reading(ws)), refusal)
      await provider.ready?.()
      confineScript(provider, 'true', reading(ws))
    } finally {
      await provider.dispose?.()
    }
    if (provider.dispose === undefined) return
    await provider.ready?.()
    assert.throws(() => confineScript(provider, 'true', reading(ws)), refusal)
  },
} as const satisfies Record<string, ProviderCheck>

function swapLink(link: string, target: string): void {
  unlinkSync(link)
  symlinkSync(target, link)
}

/** Every check by name. */
export const PROVIDER_CHECKS: Readonly<Record<string, ProviderCheck>> = {
  ...SHAPE_CHECKS,
  ...ENFORCEMENT_CHECKS,
  ...REFUSAL_CHECKS,
}

/** A vitest suite that holds what `make` makes against every check. */
export function describeSandboxProvider(name: string, make: () => SandboxProvider): void {
  describe(`${name} as a SandboxProvider`, () => {
    for (const [title, holds] of Object.entries(PROVIDER_CHECKS)) {
      it(title, () => withFolder((folder) => holds({ make, folder })))
    }
  })
}
