/** The provider: grounds a policy, wraps an argv with the selected backend, and keeps session temps. */

import { dirname, join } from 'node:path'
import {
  isWithin,
  SandboxPolicyError,
  SandboxUnavailableError,
  SHARED_MEMORY,
  type ConfinedArgv,
  type ConfinementChannel,
  type RunnerFailureRule,
  type SandboxBackend,
  type SandboxPolicy,
  type SandboxProvider,
} from 'dsh-sandbox'
import { DENIAL_DIALECT, LAUNCHER_FAILURE, type Backend } from './backends/backend.ts'
import { BWRAP_FAILURE } from './backends/bwrap.ts'
import { customFailure } from './backends/custom.ts'
import { SEATBELT_FAILURE } from './backends/seatbelt.ts'
import { openEffects } from './effects.ts'
import { Config, type ProviderConfig, type ProviderConfigInput } from './config.ts'
import { holdDebuggerSignal } from './debugger-signal.ts'
import { describeFailures, type BackendReport } from './failure.ts'
import { canonicalPath, groundPolicy, type GroundedPolicy, type GuardedDirectory } from './grounded-policy.ts'
import { readHostFacts, type Home, type HostFacts } from './host.ts'
import { keepPrivate, makePrivateState, removePrivateState } from './private-state.ts'
import { createRootPins } from './roots.ts'
import { isUnchanged } from './runner-identity.ts'
import { LAUNCHER_FOLDER } from './launcher-copy.ts'
import { ladder, select, tryRung, type SelectionGround, type TriedRung } from './selection.ts'
import { selfTest, type ModeProof } from './self-test/self-test.ts'
import { createSessionTemps, type SessionTemps } from './session-temps.ts'
import type { TrustRules } from './trust.ts'

/** A provider for this host. */
export interface LocalSandboxProvider extends Required<SandboxProvider> {
  /** The backend that calls get, once {@link ready} has found one. */
  readonly selected: SandboxBackend | undefined
  /** Tries every rung that the configuration allows, whatever is selected. Makes and removes its own scratch. */
  diagnose(): Promise<readonly BackendReport[]>
  /**
   * As {@link diagnose}, and proves every word of each backend that works by trying what it is about, without confinement
   * and confined. Takes a few tenths of a second.
   */
  selfTest(): Promise<readonly BackendProof[]>
}

/** One rung: its report, and what came of trying its words; no modes when it does not work. */
export interface BackendProof {
  readonly report: BackendReport
  readonly modes: readonly ModeProof[]
}

const RUNNER_FAILURES: Readonly<
  Record<SandboxBackend, (config: ProviderConfig) => readonly RunnerFailureRule[]>
> = {
  bwrap: () => [BWRAP_FAILURE, LAUNCHER_FAILURE],
  landlock: () => [LAUNCHER_FAILURE],
  seatbelt: () => [SEATBELT_FAILURE],
  custom: (config) => [customFailure(config.runnerFailureSignatures)],
}

/** @throws {ZodError} a configuration that does not parse. */
export function createLocalSandboxProvider(input: ProviderConfigInput = {}): LocalSandboxProvider {
  return new LocalProvider(Config.parse(input), readHostFacts())
}

class LocalProvider implements LocalSandboxProvider {
  private readonly config: ProviderConfig
  private readonly host: HostFacts
  private readonly pins = createRootPins()
  private state: { readonly path: string; readonly temps: SessionTemps } | undefined
  private tried: readonly TriedRung[] | undefined
  private triedAt = 0
  private probing: Promise<void> | undefined
  private disposed = false
  private releaseDebuggerSignal: (() => void) | undefined

  constructor(config: ProviderConfig, host: HostFacts) {
    this.config = config
    this.host = host
  }

  get selected(): SandboxBackend | undefined {
    return this.usable()?.backend
  }

  ready(): Promise<void> {
    if (this.disposed) return Promise.resolve()
    if (this.usable() !== undefined) return Promise.resolve()
    if (this.probing === undefined && !this.verdictStands()) {
      this.probing = this.probe().finally(() => (this.probing = undefined))
    }
    return this.probing ?? Promise.resolve()
  }

  confine(argv: readonly string[], policy: SandboxPolicy, channel?: ConfinementChannel): ConfinedArgv {
    if (argv.length === 0 || argv[0] === '') throw new TypeError('confine: the argv names no program')
    if (this.disposed)
      throw new SandboxUnavailableError(policy.mode, 'the sandbox provider has been disposed')
    const grounded = this.ground(policy)
    const backend = this.usable() ?? this.refuse(policy)
    this.refuseExposedRunner(backend, grounded)
    assertRequirementsMet(policy, backend)
    return this.describe(backend, grounded, backend.wrap(argv, grounded, channel), channel)
  }

  async diagnose(): Promise<readonly BackendReport[]> {
    return (await this.tryAll()).map(({ report }) => report)
  }

  async selfTest(): Promise<readonly BackendProof[]> {
    const proofs: BackendProof[] = []
    for (const { report, backend } of await this.tryAll())
      proofs.push({ report, modes: backend === undefined ? [] : await this.prove(backend) })
    return proofs
  }

  async endSession(sessionId: string): Promise<void> {
    await this.state?.temps.end(sessionId)
  }

  async dispose(): Promise<void> {
    this.disposed = true
    await this.probing
    this.releaseDebuggerSignal?.()
    const state = this.state
    this.state = undefined
    if (state !== undefined) await removePrivateState(state.path)
  }

  private tryAll(): Promise<readonly TriedRung[]> {
    const rungs = ladder(this.config, this.host.platform)
    return Promise.all(rungs.map((rung) => tryRung(rung, this.selectionGround())))
  }

  private prove(backend: Backend): Promise<readonly ModeProof[]> {
    const { path, temps } = this.privateState()
    return selfTest(backend, {
      parent: dirname(path),
      timeoutMs: this.config.probeTimeoutMs,
      temp: temps.pathOf(PROBE_SESSION),
    })
  }

  private ground(policy: SandboxPolicy): GroundedPolicy {
    try {
      return groundPolicy(policy, {
        pins: this.pins,
        guarded: this.guarded(),
        tempOf: (sessionId) => this.privateState().temps.pathOf(sessionId),
        hidden: [this.privateState().temps.parent],
      })
    } catch (cause) {
      if (cause instanceof SandboxPolicyError || cause instanceof TypeError) throw cause
      const message = cause instanceof Error ? cause.message : String(cause)
      const detail = `private state: ${message} (fix: free space in /var/tmp, or set stateParent to a writable directory)`
      throw new SandboxUnavailableError(policy.mode, detail, { cause })
    }
  }

  private async probe(): Promise<void> {
    this.tried = await select(this.selectionGround())
    this.triedAt = performance.now()
    if (this.usable()?.signalsReachHost === true) this.releaseDebuggerSignal ??= holdDebuggerSignal()
  }

  /** The backend that holds. A runner that was touched since its probe voids the verdict: it may be another program. */
  private usable(): Backend | undefined {
    const held = this.tried?.find(({ backend }) => backend !== undefined)
    if (held?.runners?.every(isUnchanged) === false) this.tried = undefined
    return this.tried === undefined ? undefined : held?.backend
  }

  /** A failed verdict is good for a while only. */
  private verdictStands(): boolean {
    return this.tried !== undefined && performance.now() - this.triedAt < this.config.probeRetryMs
  }

  private refuse(policy: SandboxPolicy): never {
    const tried = this.tried
    // The next call may fare better; whoever cannot wait for it is refused now.
    void this.ready()
    if (tried === undefined) {
      throw new SandboxUnavailableError(
        policy.mode,
        'the backends have not been probed yet; await ready() first',
      )
    }
    const detail = describeFailures(tried.map(({ report }) => report))
    throw new SandboxUnavailableError(
      policy.mode,
      detail === '' ? `no backend exists for ${this.host.platform}` : detail,
    )
  }

  /** A runner that a command can write would run unconfined the next time. */
  private refuseExposedRunner(backend: Backend, policy: GroundedPolicy): void {
    for (const runner of [...backend.runners, ...(backend.scripts ?? [])]) {
      const root = policy.writable.find(({ path }) => isWithin(path, runner))
      if (root === undefined) continue
      throw new SandboxUnavailableError(
        policy.mode,
        `${backend.backend}: trust: ${runner} lies in the writable root ${root.path} (fix: install it elsewhere, or narrow the root)`,
      )
    }
  }

  private describe(
    { backend, statements, reportsStatus, view }: Backend,
    policy: GroundedPolicy,
    argv: readonly string[],
    channel: ConfinementChannel | undefined,
  ): ConfinedArgv {
    const { tempDir, scratch, shared = [], maskedRoots, visibleRoots } = view(policy)
    const { enforcement, effects } = statements[policy.mode]
    const writable = policy.writable.map(({ path }) => path)
    return {
      argv,
      enforcement,
      denialSignatures: DENIAL_DIALECT[backend],
      runnerFailureRules: RUNNER_FAILURES[backend](this.config),
      backend,
      ...(effects === undefined ? {} : { effects }),
      writableRoots: [...writable, tempDir, ...scratch, ...shared],
      maskedRoots,
      visibleRoots: [...visibleRoots, ...writable],
      tempDir,
      ...(reportsStatus && channel !== undefined ? { statusFd: channel.statusFd } : {}),
    }
  }

  private guarded(): readonly GuardedDirectory[] {
    return [
      ...this.host.homes.map(guardedHome),
      {
        path: this.privateState().path,
        what: 'private state of the sandbox',
        rule: 'root-holds-private-state' as const,
        below: 'closed' as const,
      },
    ]
  }

  private privateState(): { readonly path: string; readonly temps: SessionTemps } {
    if (this.state === undefined) {
      const path = makePrivateState(this.config.stateParent)
      this.state = { path, temps: createSessionTemps(path) }
    }
    keepPrivate(this.state.path, this.state.temps.parent, join(this.state.path, LAUNCHER_FOLDER))
    return this.state
  }

  private selectionGround(): SelectionGround {
    return {
      config: this.config,
      host: this.host,
      trust: this.trustRules(),
      state: () => this.privateState().path,
      probeTemp: () => this.privateState().temps.pathOf(PROBE_SESSION),
    }
  }

  private trustRules(): TrustRules {
    const { uid, gid } = this.host
    return {
      owners: new Set([0, ...(uid === undefined ? [] : [uid])]),
      groups: new Set([0, ...(gid === undefined ? [] : [gid])]),
      // Programs are judged by their canonical path, so roots are compared by theirs.
      untrustedRoots: [
        ...(this.config.untrustedRoots ?? workingDirectory()).map(canonicalPath),
        SHARED_MEMORY,
      ],
    }
  }
}

/** What was asked for and is not enforced is a refusal that names it. */
function assertRequirementsMet(
  { mode, requires = [] }: SandboxPolicy,
  { backend, statements }: Backend,
): void {
  const open = openEffects(requires, statements[mode].effects)
  if (open.length === 0) return
  const names = open.join(', ')
  throw new SandboxPolicyError(
    'effect-open',
    names,
    `the policy requires effects to be enforced that ${backend} leaves open in ${mode} mode on this host: ${names}; ` +
      'nothing was run. Choose a backend that enforces them (`dsh-sandbox doctor` shows which), or drop the requirement.',
  )
}

function guardedHome({ path, of }: Home): GuardedDirectory {
  return of === 'user'
    ? { path, what: 'the home directory', rule: 'root-holds-home', below: 'free' }
    : { path, what: "the harness's own directory", rule: 'root-holds-home', below: 'closed' }
}

/** None when it has been removed: nothing can lie in it then. */
function workingDirectory(): readonly string[] {
  try {
    return [process.cwd()].filter((path) => path !== '/')
  } catch {
    // ENOENT of getcwd(2) is its only failure here.
    return []
  }
}

/** The session whose temp probes write: one that no caller can name. */
const PROBE_SESSION = '\0probe'
