/** Begins one command: everything that the foreground, passed and background ways of running have in common. */

import type { BashExecSpec } from 'dsh-bash'
import { createCollector, type Collector } from './collect.ts'
import { AbortedBeforeSpawnError, checkRunnable, type EndedCommand, type RunnableCommand } from './command.ts'
import type { ResolvedConfig } from './config.ts'
import { spawnProcess, type SpawnedProcess, type StdioPlan } from './spawn.ts'
import type { SpillStore } from './spill.ts'
import {
  createStatusChannel,
  reportedExit,
  reportedLeftover,
  saysReady,
  type StatusChannel,
} from './status-channel.ts'
import { supervise, type Sink, type Supervision } from './supervise.ts'
import { checkWorkdir } from './workdir.ts'

/** In which way a command runs. */
export interface RunningWay {
  readonly stdio: StdioPlan
  /** Undefined: no timeout. */
  readonly timeoutMs: number | undefined
  /** Bytes of stdout kept in memory. */
  readonly stdoutMaxBytes: number
}

/** A command under way, or one that could not be started and ends with `spawnError`. */
export interface BegunCommand {
  readonly stdout: Collector
  readonly stderr: Collector
  /** Never rejects. */
  readonly ended: Promise<EndedCommand>
  kill(): void
}

/** The streams of one command and who takes them. */
interface Intake {
  readonly stdout: Collector
  readonly stderr: Collector
  readonly status: StatusChannel | undefined
}

/** Spawns in this very turn. @throws {TypeError} a command that its maker got wrong. */
export function beginCommand(
  command: RunnableCommand,
  way: RunningWay,
  config: ResolvedConfig,
  spills: SpillStore,
): BegunCommand {
  checkRunnable(command)
  const intake: Intake = {
    stdout: createCollector(way.stdoutMaxBytes, spills.file()),
    stderr: createCollector(config.maxOutputBytes, spills.file()),
    status: command.statusFd === undefined ? undefined : createStatusChannel(),
  }
  const begun = { stdout: intake.stdout, stderr: intake.stderr }
  const attempt = trySpawn(command, way)
  if (attempt.pid === undefined) {
    const ended = attempt.failure.then((error) => endedUnspawned(command.spec, intake, error))
    return { ...begun, ended, kill: () => {} }
  }
  const { status } = intake
  const runner = status === undefined ? undefined : { handedOver: () => saysReady(status.text()) }
  const terms = { timeoutMs: way.timeoutMs, signal: command.spec.signal, graceMs: config.graceMs, runner }
  const supervision = supervise(attempt, sinksOf(attempt, intake), terms)
  return { ...begun, ended: endedSupervised(command.spec, intake, supervision), kill: supervision.kill }
}

type SpawnAttempt =
  SpawnedProcess | { readonly pid: undefined; readonly failure: Promise<NodeJS.ErrnoException> }

function trySpawn(command: RunnableCommand, way: RunningWay): SpawnAttempt {
  const { spec } = command
  const fault = reasonNotToSpawn(spec)
  if (fault !== undefined) return { pid: undefined, failure: Promise.resolve(fault) }
  const outcome = spawnProcess({
    argv: command.argv,
    env: command.env,
    workdir: spec.workdir,
    stdio: way.stdio,
    stdin: spec.stdin,
    hasStatus: command.statusFd !== undefined,
  })
  if (outcome.pid !== undefined) return outcome
  // The directory may have gone between the check and the spawn, and the spawn's own error would blame the program.
  return { pid: undefined, failure: outcome.failure.then((error) => workdirFault(spec.workdir) ?? error) }
}

function reasonNotToSpawn(spec: BashExecSpec): Error | undefined {
  if (spec.signal?.aborted === true) return new AbortedBeforeSpawnError(spec.signal.reason)
  return workdirFault(spec.workdir)
}

function workdirFault(workdir: string): Error | undefined {
  try {
    checkWorkdir(workdir)
    return undefined
  } catch (error) {
    // checkWorkdir throws nothing but BashWorkdirError.
    return error as Error
  }
}

function sinksOf(spawned: SpawnedProcess, intake: Intake): readonly Sink[] {
  const sinks: Sink[] = []
  if (spawned.stdout !== undefined) sinks.push({ stream: spawned.stdout, ...intake.stdout })
  if (spawned.stderr !== undefined) sinks.push({ stream: spawned.stderr, ...intake.stderr })
  if (spawned.status !== undefined && intake.status !== undefined) {
    sinks.push({ stream: spawned.status, consume: intake.status.consume, cut: () => {} })
  }
  return sinks
}

async function endedSupervised(
  spec: BashExecSpec,
  intake: Intake,
  supervision: Supervision,
): Promise<EndedCommand> {
  const { exitCode, signal, timedOut, aborted, killed } = await supervision.outcome
  const taken = takenIn(intake)
  const exit = reportedExit(taken.statusText ?? '') ?? { exitCode, signal }
  const leftover = reportedLeftover(taken.statusText ?? '')
  return { ...exit, leftover, timedOut, aborted, killed, timeoutMs: spec.timeoutMs, ...taken }
}

function endedUnspawned(spec: BashExecSpec, intake: Intake, spawnError: NodeJS.ErrnoException): EndedCommand {
  const aborted = spawnError instanceof AbortedBeforeSpawnError
  const none = { exitCode: null, signal: null, leftover: undefined, timedOut: false, killed: false }
  return { ...none, aborted, timeoutMs: spec.timeoutMs, ...takenIn(intake), spawnError }
}

function takenIn(intake: Intake): Pick<EndedCommand, 'stdout' | 'stderr' | 'statusText'> {
  return {
    stdout: intake.stdout.collected(),
    stderr: intake.stderr.collected(),
    statusText: intake.status?.text(),
  }
}
