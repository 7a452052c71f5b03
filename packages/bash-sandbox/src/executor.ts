/**
 * The executor: policy -> confine -> run -> verdict. It composes the spawn core's runner with a provider; the spec alone
 * says how a call runs, and `danger-full-access` never touches the provider.
 */

import { resolve as resolvePath } from 'node:path'
import type {
  BashExecRequest,
  BashExecSpec,
  BashExecutor,
  BashProcess,
  BashRunResult,
  BashSandboxInfo,
} from 'dsh-bash'
import {
  bashArgv,
  childEnv,
  runResult,
  STATUS_FD,
  type BashRunner,
  type EndedCommand,
  type PassedCommand,
  type RunnableCommand,
} from 'dsh-bash-local'
import {
  isConfinedPolicy,
  SandboxPolicyError,
  SandboxUnavailableError,
  type ConfinedArgv,
  type SandboxExecutionPolicy,
  type SandboxMode,
  type SandboxPolicy,
  type SandboxProvider,
} from 'dsh-sandbox'
import { executionPolicy } from './execution-policy.ts'
import { isExposed } from './exposed-directory.ts'
import { splitEnvironment, withEnvironment } from './inside-environment.ts'
import { hostPaths } from './path-facts.ts'
import { runnerSpawnFailure } from './runner-failure.ts'
import { assertSpillClosed } from './spill-place.ts'
import { verdict, type Verdict } from './verdict.ts'
import { assertWorkdirVisible } from './workdir.ts'

/** A request for an argv instead of a script. */
export type ArgvRequest = Omit<BashExecRequest, 'command'>

/** How a command ended that had the caller's own stdio: there is no output to keep, and so no denial to read. */
export interface PassedResult {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
  readonly timedOut: boolean
  readonly aborted: boolean
  readonly timeoutMs: number
  readonly sandbox: BashSandboxInfo
}

/** A bash executor that confines, with two more ways to run for hosts that bring an argv of their own. */
export interface SandboxedBash extends BashExecutor {
  readonly sandboxMode: SandboxMode
  /** As `run`, for an argv that is executed as it is. */
  runArgv(argv: readonly string[], request?: ArgvRequest): Promise<BashRunResult>
  /** The same with this process's own stdin, stdout and stderr. */
  passArgv(argv: readonly string[], request?: ArgvRequest): Promise<PassedResult>
}

/** A command on its way: confined unless its policy asks for none. */
type Prepared =
  | { readonly confined: undefined; readonly command: RunnableCommand }
  | { readonly confined: ConfinedArgv; readonly policy: SandboxPolicy; readonly command: RunnableCommand }

export class SandboxedBashExecutor implements SandboxedBash {
  private readonly runner: BashRunner
  private readonly provider: SandboxProvider
  private readonly defaults: SandboxExecutionPolicy
  private readonly afterDispose: () => Promise<void>
  private disposed = false

  /** `afterDispose` runs once nothing of this executor is left: an own provider is disposed there. */
  constructor(
    runner: BashRunner,
    provider: SandboxProvider,
    defaults: SandboxExecutionPolicy,
    afterDispose: () => Promise<void> = () => Promise.resolve(),
  ) {
    this.runner = runner
    this.provider = provider
    this.defaults = defaults
    this.afterDispose = afterDispose
  }

  get sandboxMode(): SandboxMode {
    return this.defaults.mode
  }

  resolve(request: BashExecRequest): BashExecSpec {
    const policy = executionPolicy(request, this.defaults)
    const spec = this.runner.resolve({ ...request, workdir: workdirOf(request) })
    return { ...spec, sandboxMode: policy.mode, sandboxPolicy: policy }
  }

  async run(spec: BashExecSpec): Promise<BashRunResult> {
    return this.collect(bashArgv(spec.command), spec)
  }

  async runArgv(argv: readonly string[], request: ArgvRequest = {}): Promise<BashRunResult> {
    return this.collect(argv, this.resolveArgv(argv, request))
  }

  async passArgv(argv: readonly string[], request: ArgvRequest = {}): Promise<PassedResult> {
    const prepared = await this.prepareWhenReady(argv, this.resolveArgv(argv, request))
    const passed = await this.orUnavailable(prepared, () => this.runner.pass(prepared.command))
    const { exitCode, signal, timedOut, aborted, timeoutMs } = passed
    return {
      exitCode,
      signal,
      timedOut,
      aborted,
      timeoutMs,
      sandbox: this.judgeForeground(prepared, unread(passed)),
    }
  }

  start(spec: BashExecSpec): BashProcess {
    this.assertLive()
    // A verdict that has gone stale is renewed for the next call; this one cannot wait, and hears of it in confine().
    if (isConfinedPolicy(policyOf(spec))) this.provider.ready?.().catch(() => {})
    const prepared = this.prepare(bashArgv(spec.command), spec)
    return this.runner.start({ ...prepared.command, judge: (ended) => judge(prepared, ended).info })
  }

  async dispose(): Promise<void> {
    this.disposed = true
    await this.runner.dispose()
    await this.afterDispose()
  }

  /** Said here, since what else would fail first would speak of a missing backend. */
  private assertLive(): void {
    if (this.disposed) throw new Error('bash-sandbox: this executor has been disposed of; nothing was run')
  }

  private resolveArgv(argv: readonly string[], request: ArgvRequest): BashExecSpec {
    return this.resolve({ ...request, command: argv.join(' ') })
  }

  private async collect(argv: readonly string[], spec: BashExecSpec): Promise<BashRunResult> {
    const prepared = await this.prepareWhenReady(argv, spec)
    const ended = await this.orUnavailable(prepared, () => this.runner.run(prepared.command))
    return { ...runResult(ended), sandbox: this.judgeForeground(prepared, ended) }
  }

  private async prepareWhenReady(argv: readonly string[], spec: BashExecSpec): Promise<Prepared> {
    this.assertLive()
    if (isConfinedPolicy(policyOf(spec))) await this.provider.ready?.()
    return this.prepare(argv, spec)
  }

  private prepare(argv: readonly string[], spec: BashExecSpec): Prepared {
    const policy = policyOf(spec)
    const environment = childEnv(spec, process.env)
    if (!isConfinedPolicy(policy)) {
      assertNothingRequired(policy)
      return { confined: undefined, command: { argv, env: environment, spec } }
    }
    const { outside, inside } = splitEnvironment(environment, spec.env ?? {}, (directory) =>
      isExposed(directory, policy),
    )
    const confined = this.provider.confine(withEnvironment(inside, argv), policy, { statusFd: STATUS_FD })
    assertWorkdirVisible(spec.workdir, confined)
    assertSpillClosed(this.runner.spillParent, policy)
    const command = {
      argv: confined.argv,
      env: outside,
      spec,
      ...(confined.statusFd === undefined ? {} : { statusFd: confined.statusFd }),
    }
    return { confined, policy, command }
  }

  /** A runner that cannot be spawned is a missing backend, and nothing else is. */
  private async orUnavailable<T>(prepared: Prepared, act: () => Promise<T>): Promise<T> {
    try {
      return await act()
    } catch (cause) {
      if (prepared.confined === undefined || !(cause instanceof Error)) throw cause
      const detail = runnerSpawnFailure(cause, prepared.confined)
      if (detail === undefined) throw cause
      throw new SandboxUnavailableError(prepared.policy.mode, detail, { cause })
    }
  }

  private judgeForeground(prepared: Prepared, ended: EndedCommand): BashSandboxInfo {
    const judged = judge(prepared, ended)
    if (judged.runnerFailed) throw new SandboxUnavailableError(judged.info.mode, judged.detail)
    return judged.info
  }
}

function judge(prepared: Prepared, ended: EndedCommand): Verdict {
  if (prepared.confined === undefined)
    return { runnerFailed: false, info: { mode: 'danger-full-access', denied: false } }
  return verdict(ended, prepared.policy.mode, {
    ...hostPaths,
    workdir: prepared.command.spec.workdir,
    confined: prepared.confined,
  })
}

/** Absent never means allowed: a spec that no `resolve()` of ours made is refused. */
function policyOf(spec: BashExecSpec): SandboxExecutionPolicy {
  const { sandboxPolicy, sandboxMode } = spec
  if (sandboxPolicy === undefined || sandboxPolicy.mode !== sandboxMode) {
    throw new TypeError(
      'the spec states no sandbox policy, or one that differs from its mode: make specs with resolve()',
    )
  }
  return sandboxPolicy
}

/** Without confinement everything is open, so what requires anything is refused. */
function assertNothingRequired({ mode, requires = [] }: SandboxExecutionPolicy): void {
  if (requires.length === 0) return
  const names = requires.join(', ')
  throw new SandboxPolicyError(
    'effect-open',
    names,
    `the policy requires effects to be enforced, and ${mode} enforces none: ${names}; nothing was run. ` +
      'Drop the requirement, or run in a confined mode.',
  )
}

/** A request that brings its own policy speaks of that policy's root, not of this executor's directory. */
function workdirOf({ workdir, sandboxPolicy }: BashExecRequest): string | undefined {
  return sandboxPolicy === undefined ? workdir : resolvePath(sandboxPolicy.workspaceRoot, workdir ?? '.')
}

/** Output that went straight to the caller's own streams leaves nothing to read. */
function unread(passed: PassedCommand): EndedCommand {
  const nothing = { text: '', truncated: false }
  return { ...passed, stdout: nothing, stderr: nothing }
}
