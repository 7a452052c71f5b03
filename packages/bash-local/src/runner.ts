/**
 * The runner: spawns commands that are ready to run and answers for them until it is disposed of. It neither builds an
 * argv nor judges an end; an executor composes those around it.
 */

import type { BashExecRequest, BashExecSpec, BashProcess } from 'dsh-bash'
import { backgroundProcess } from './background.ts'
import { beginCommand, type BegunCommand, type RunningWay } from './begin.ts'
import type { EndedCommand, PassedCommand, RunnableCommand } from './command.ts'
import { resolveConfig, type ConfigInput, type ResolvedConfig } from './config.ts'
import { resolveRequest } from './resolve.ts'
import { createSpillStore } from './spill.ts'

export interface BashRunner {
  readonly config: ResolvedConfig
  /** Where spill directories are made. Nothing that a command may write may hold it. */
  readonly spillParent: string
  /** Fills in every default; pure. @throws {TypeError} naming the field at fault. */
  resolve(request: BashExecRequest): BashExecSpec
  /**
   * Runs to the end. When it resolves, nothing is left in the command's process group.
   * Rejects when nothing was spawned: the spawn's own errno error, `BashWorkdirError`, `AbortedBeforeSpawnError`.
   */
  run(command: RunnableCommand): Promise<EndedCommand>
  /**
   * As `run`, on this process's own stdin, stdout and stderr. The command is in a session of its own, so a terminal
   * sends it no signals: pass them on through `spec.signal`.
   */
  pass(command: RunnableCommand): Promise<PassedCommand>
  /**
   * Starts and returns at once, without a timeout. A start that fails settles as `killed`, with `spawn failed: ...` in
   * exactly one read. When the process ends, what it left in its group is ended too.
   * @throws {Error} the runner has been disposed of.
   */
  start(command: RunnableCommand): BashProcess
  /** Ends everything that runs (TERM, then KILL after the grace), waits until it is gone, removes the spill files. */
  dispose(): Promise<void>
}

/** @throws {TypeError} naming each setting at fault. */
export function createBashRunner(input?: ConfigInput): BashRunner {
  const config = resolveConfig(input)
  const spills = createSpillStore(config)
  const live = new Set<BegunCommand>()
  let disposal: Promise<void> | undefined

  const begin = (command: RunnableCommand, way: RunningWay): BegunCommand => {
    if (disposal !== undefined)
      throw new Error('bash-local: this runner has been disposed of; nothing was run')
    const begun = beginCommand(command, way, config, spills)
    live.add(begun)
    void begun.ended.then(() => live.delete(begun))
    return begun
  }

  const toEnd = async (command: RunnableCommand, stdio: RunningWay['stdio']): Promise<EndedCommand> => {
    const { timeoutMs, stdoutMaxBytes } = command.spec
    const ended = await begin(command, { stdio, timeoutMs, stdoutMaxBytes }).ended
    if (ended.spawnError !== undefined) throw ended.spawnError
    return ended
  }

  const disposeOf = async () => {
    const begun = [...live]
    for (const command of begun) command.kill()
    await Promise.all(begun.map((command) => command.ended))
    await spills.remove()
  }

  return {
    config,
    spillParent: spills.parent,
    resolve: (request) => resolveRequest(request, config),
    run: (command) => toEnd(command, 'collected'),
    async pass(command) {
      const ended = await toEnd(command, 'inherited')
      const { exitCode, signal, timedOut, aborted, killed, timeoutMs, statusText, leftover } = ended
      return { exitCode, signal, timedOut, aborted, killed, timeoutMs, statusText, leftover }
    },
    start(command) {
      const way = { stdio: 'collected', timeoutMs: undefined, stdoutMaxBytes: config.maxOutputBytes } as const
      return backgroundProcess(begin(command, way), command.judge)
    },
    dispose: () => (disposal ??= disposeOf()),
  }
}
