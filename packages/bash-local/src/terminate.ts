/**
 * Ends a command's process group, and on Linux what had left the group but can still be told to be the command's: the
 * members of its session (jobs of `set -m`), and whoever was below a living ancestor when TERM was sent (`setsid`).
 * TERM first, KILL after a grace that runs on when the leader exits. No signal once a number may be another's.
 *
 * Not promised: a descendant that left the session and whose ancestors had ended before anyone looked.
 */

import {
  descendantsOf,
  isAlive,
  readProcess,
  readProcessesAfter,
  readProcessTable,
  type ProcessRow,
} from './procfs.ts'

/** First and longest pause between two looks at a group, in milliseconds. */
const POLL_MS = { first: 2, longest: 50 } as const

/** How long a killed group may take to go, in milliseconds; a process stuck in the kernel takes longer. */
const KILL_WAIT_MS = 2_000

/** A command younger than this, in milliseconds, cannot have seen the pid counter come round. */
const YOUNG_MS = 250

export interface ProcessGroup {
  /** Resolves when nothing of it is left, or when KILL did not help within 2 s. The first call sets the grace. */
  end(graceMs: number): Promise<void>
  /** KILL at once, without waiting; for a process that is about to exit itself. */
  killNow(): void
  /** To be called in the turn in which the leader was reaped: from then on the group's number can become free. */
  leaderExited(): void
}

/**
 * Who ends processes outside the group: we do, or a runner that leads the group and ends what is below it when it is
 * killed. That is then waited for, since killing the runner's own helpers would stop them in it.
 */
export type StrayCare = 'ours' | 'left-to-runner'

/** Follows the group and session that `pid` leads. */
export function followGroup(pid: number, strayCare: StrayCare = 'ours'): ProcessGroup {
  const startedAt = performance.now()
  const strays = createStrays(pid)
  let leaderGone = false
  let groupGone = false
  let ending: Promise<void> | undefined

  const groupIsGone = (): boolean => {
    groupGone ||= leaderGone && !groupIsLive(pid)
    return groupGone
  }
  const allGone = () => groupIsGone() && strays.living().length === 0
  const signalGroup = (signal: NodeJS.Signals) => {
    if (!groupIsGone()) sendSignal(-pid, signal)
  }
  const table = () => {
    const isYoung = performance.now() - startedAt < YOUNG_MS
    return (isYoung ? readProcessesAfter(pid) : readProcessTable()) ?? []
  }
  const look = () => {
    if (!groupIsGone() || strays.holdSession()) strays.find(table(), leaderGone ? [] : [pid])
  }
  const signalStrays = (signal: NodeJS.Signals) => {
    if (strayCare === 'ours') strays.signal(signal)
  }
  const killNow = () => {
    look()
    signalGroup('SIGKILL')
    signalStrays('SIGKILL')
  }

  // A leader that passes TERM on does so for its descendants; they get their own only when it is no longer there.
  const terminate = async (graceMs: number) => {
    let straysTold = false
    const tellStrays = () => {
      if (leaderGone && !straysTold) {
        straysTold = true
        signalStrays('SIGTERM')
      }
      return allGone()
    }
    // Without a grace there is nobody whom TERM could let finish, and it must not end a runner in the place of KILL.
    if (graceMs > 0) {
      signalGroup('SIGTERM')
      if (await pollUntil(tellStrays, graceMs)) return
    }
    killNow()
    if (await pollUntil(allGone, KILL_WAIT_MS)) return
    strays.signal('SIGKILL')
    await pollUntil(allGone, KILL_WAIT_MS)
  }

  return {
    end(graceMs) {
      if (ending !== undefined) return ending
      look()
      if (allGone()) return Promise.resolve()
      ending = terminate(graceMs)
      return ending
    },
    killNow,
    leaderExited() {
      leaderGone = true
      if (strayCare === 'left-to-runner') return
      // Before anyone can see the group gone: a job in a group of its own keeps the session's number taken.
      strays.find(table(), [])
      groupIsGone()
    },
  }
}

/** The processes of one command outside its group. */
interface Strays {
  /** Remembers those in `table` that are in the session, or below `ancestors`, or below a stray known already. */
  find(table: readonly ProcessRow[], ancestors: readonly number[]): void
  living(): readonly ProcessRow[]
  /** True while a living stray keeps the session's number from being given to another. */
  holdSession(): boolean
  signal(signal: NodeJS.Signals): void
}

function createStrays(leader: number): Strays {
  const known = new Map<number, ProcessRow>()
  const living = () => [...known.values()].filter(isStillItself)
  return {
    find(table, ancestors) {
      const below = descendantsOf(table, [...ancestors, ...living().map((row) => row.pid)])
      const inSession = table.filter((row) => row.session === leader && isAlive(row))
      for (const row of [...below, ...inSession]) if (row.pgrp !== leader) known.set(row.pid, row)
    },
    living,
    holdSession: () => living().some((row) => row.session === leader),
    signal(signal) {
      for (const row of living()) sendSignal(row.pid, signal)
    },
  }
}

/** False when no member is left, and on Linux also when all that are left are zombies nobody collects. */
function groupIsLive(pgrp: number): boolean {
  if (!sendSignal(-pgrp, 0)) return false
  const table = readProcessTable()
  return table === undefined || table.some((row) => row.pgrp === pgrp && isAlive(row))
}

function isStillItself(row: ProcessRow): boolean {
  const now = readProcess(row.pid)
  return now !== undefined && now.startTicks === row.startTicks && isAlive(now)
}

/** False when there is nobody to signal. A member that may not be signalled (EPERM) is still there. */
function sendSignal(target: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(target, signal)
  } catch (error) {
    // process.kill throws errno errors only, as the signal is a valid one.
    return (error as NodeJS.ErrnoException).code !== 'ESRCH'
  }
}

/** Looks until `isTrue` or until `limitMs` have passed; the answer is its last. */
async function pollUntil(isTrue: () => boolean, limitMs: number): Promise<boolean> {
  const limit = performance.now() + limitMs
  for (let pauseMs: number = POLL_MS.first; !isTrue(); pauseMs = Math.min(pauseMs * 2, POLL_MS.longest)) {
    const leftMs = limit - performance.now()
    if (leftMs <= 0) return false
    await new Promise((resolve) => setTimeout(resolve, Math.min(pauseMs, leftMs)))
  }
  return true
}
