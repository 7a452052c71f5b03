/**
 * The life of one spawned process, from its start until nothing of it is left: what ends it, how long its pipes may
 * stay open after it, and what becomes of what it leaves behind.
 */

import type { Readable } from 'node:stream'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { armDeadline, type DeadlineTerms } from './deadline.ts'
import { adopt, release } from './live-groups.ts'
import type { Exit, SpawnedProcess } from './spawn.ts'
import { followGroup, type ProcessGroup } from './terminate.ts'

/** Between TERM and KILL for what a finished command leaves in its group, in milliseconds, when the grace is longer. */
const LEFTOVER_GRACE_MS = 200

/** How long pipes may take to close once the group is gone, in milliseconds. */
const LAST_DRAIN_MS = 250

/** Someone who takes one stream of the process. */
export interface Sink {
  readonly stream: Readable
  /** Never rejects. */
  consume(stream: Readable): Promise<void>
  /** The stream is about to be destroyed before its end. */
  cut(): void
}

export interface SupervisionTerms extends DeadlineTerms {
  readonly graceMs: number
  /**
   * The process is a runner that reports on itself and ends what its command leaves. `undefined`: it is the command.
   */
  readonly runner: Runner | undefined
}

/** What a runner has told so far. */
export interface Runner {
  /** False: the command does not exist yet, so there is nothing that TERM could let finish. */
  handedOver(): boolean
}

/** How a process ended and which of our causes came before that. */
export interface Outcome extends Exit {
  readonly timedOut: boolean
  readonly aborted: boolean
  readonly killed: boolean
}

export interface Supervision {
  /** Never rejects. Resolves when the process, its group and its streams are done. */
  readonly outcome: Promise<Outcome>
  kill(): void
}

/** To be called in the turn of the spawn, so that no event is missed. */
export function supervise(
  spawned: SpawnedProcess,
  sinks: readonly Sink[],
  terms: SupervisionTerms,
): Supervision {
  const group = followGroup(spawned.pid, terms.runner === undefined ? 'ours' : 'left-to-runner')
  adopt(group)
  // A cause that comes while the pipes drain still ends the group; it changes nothing about how the command ended.
  const deadline = armDeadline(terms, () => void endWithGrace(group, terms))
  const exited = new Promise<Outcome>((resolve) => {
    spawned.onExit((exit) => {
      group.leaderExited()
      const { cause } = deadline
      resolve({
        ...exit,
        timedOut: cause === 'timeout',
        aborted: cause === 'abort',
        killed: cause === 'kill',
      })
    })
  })
  const drained = Promise.all(sinks.map((sink) => sink.consume(sink.stream)))

  const untilNothingIsLeft = async (): Promise<Outcome> => {
    const outcome = await exited
    const allRead = await settlesWithin(drained, terms.graceMs)
    deadline.disarm()
    // The descriptor on which a runner reports closes with the last of its processes, and they leave nobody behind.
    if (allRead && terms.runner !== undefined) return released(group, outcome)
    await group.end(Math.min(terms.graceMs, LEFTOVER_GRACE_MS))
    if (!(await settlesWithin(drained, LAST_DRAIN_MS))) sinks.forEach(cutOff)
    return released(group, outcome)
  }
  return { outcome: untilNothingIsLeft(), kill: deadline.kill }
}

function released(group: ProcessGroup, outcome: Outcome): Outcome {
  release(group)
  return outcome
}

/** What the runner has told may lie unread in its pipe; two turns of the loop bring it in. */
async function endWithGrace(group: ProcessGroup, { graceMs, runner }: SupervisionTerms): Promise<void> {
  for (let turn = 0; turn < 2 && runner?.handedOver() === false; turn++) await nextTurn()
  await group.end(runner?.handedOver() === false ? 0 : graceMs)
}

/** Only a process that had left the group can still hold the pipe; it gets SIGPIPE at its next write. */
function cutOff(sink: Sink): void {
  if (sink.stream.readableEnded) return
  sink.cut()
  sink.stream.destroy()
}

async function settlesWithin(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const limit = new Promise<boolean>((resolve) => {
    timer = setTimeout(() => resolve(false), limitMs)
  })
  const settled = await Promise.race([work.then(() => true), limit])
  clearTimeout(timer)
  return settled
}
