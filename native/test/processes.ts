/** What runs on this machine, as /proc has it, and waiting for it to change. */

import { readFileSync, readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'

/** A process by what no other one ever shares with it: its number and the clock tick it began at. */
export interface Seen {
  readonly pid: number
  readonly start: string
  readonly parent: number
  readonly zombie: boolean
}

/** Collects orphans, each init at its own leisure. */
const INIT = 1

/** Fields after the name, which may hold anything: state is the first, the parent the second. Source: proc_pid_stat(5). */
function seen(pid: number): Seen | undefined {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { pid, start: fields[19] ?? '', parent: Number(fields[1]), zombie: fields[0] === 'Z' }
  } catch {
    // It has ended and was collected between the listing and the reading.
    return undefined
  }
}

function everyProcess(): readonly Seen[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name))
  return pids.flatMap((pid) => seen(Number(pid)) ?? [])
}

/** The process and all that descend from it. */
export function tree(root: number): readonly Seen[] {
  const all = everyProcess()
  const below = (pid: number): readonly Seen[] =>
    all.filter(({ parent }) => parent === pid).flatMap((one) => [one, ...below(one.pid)])
  return [...all.filter(({ pid }) => pid === root), ...below(root)]
}

/** Children of a process, oldest first. */
export function childrenOf(pid: number): readonly number[] {
  return everyProcess()
    .filter(({ parent }) => parent === pid)
    .map((one) => one.pid)
}

/** True as long as it has an entry in /proc. A zombie has one too, and is gone only when init alone is left to collect it. */
export function remains({ pid, start }: Seen): boolean {
  const now = seen(pid)
  return now?.start === start && !(now.zombie && now.parent === INIT)
}

/** Processes that have `marker` as an argument. */
export function marked(marker: string): readonly Seen[] {
  return everyProcess().filter(({ pid }) => argumentsOf(pid).includes(marker))
}

function argumentsOf(pid: number): readonly string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0')
  } catch {
    return []
  }
}

/** `State:` of a process, one letter; undefined once it is gone. */
export function stateOf(pid: number): string | undefined {
  try {
    return /^State:\s+(\w)/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1]
  } catch {
    return undefined
  }
}

const PATIENCE_MS = 15_000

/** Resolves once the fact can be seen. */
export async function until(what: string, fact: () => boolean): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS
  while (!fact()) {
    if (Date.now() > deadline) throw new Error(`not seen in ${PATIENCE_MS} ms: ${what}`)
    await pause(2)
  }
}
