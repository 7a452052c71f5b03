/**
 * The process table as Linux shows it in /proc. Elsewhere, or without /proc, there is none and callers fall back on
 * what kill(2) tells. Source: proc_pid_stat(5).
 */

import { readdirSync, readFileSync } from 'node:fs'

export interface ProcessRow {
  readonly pid: number
  readonly ppid: number
  readonly pgrp: number
  readonly session: number
  /** One letter; `Z` and `X` are dead and only wait to be collected. */
  readonly state: string
  /** Clock ticks since boot; with the pid it names one process for good. */
  readonly startTicks: number
}

/** Every process, or undefined where there is no such table. Takes about 10 µs per process. */
export function readProcessTable(): readonly ProcessRow[] | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const rows = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => readProcess(Number(name)))
    const known = rows.filter((row) => row !== undefined)
    return known.length === 0 ? undefined : known
  } catch {
    // No /proc is mounted, or no descriptor is left to read it with.
    return undefined
  }
}

/** A longer span of pids costs more one by one than the whole table does. */
const MAX_SPAN = 256

/**
 * Processes that were made after `pid`, which must itself be younger than a round trip of the pid counter. Cheap when
 * few were. Falls back on the whole table. Source: proc_loadavg(5), whose last field is the newest pid.
 */
export function readProcessesAfter(pid: number): readonly ProcessRow[] | undefined {
  const newest = newestPid()
  if (newest === undefined || newest < pid || newest - pid > MAX_SPAN) return readProcessTable()
  return Array.from({ length: newest - pid }, (_, index) => readProcess(pid + 1 + index)).filter(
    (row) => row !== undefined,
  )
}

function newestPid(): number | undefined {
  if (process.platform !== 'linux') return undefined
  try {
    const newest = Number(readFileSync('/proc/loadavg', 'latin1').trimEnd().split(' ').at(-1))
    return Number.isInteger(newest) ? newest : undefined
  } catch {
    // No /proc is mounted, or no descriptor is left to read it with.
    return undefined
  }
}

/** One process, or undefined when it is gone. */
export function readProcess(pid: number): ProcessRow | undefined {
  try {
    return parseStat(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    // It ended between the listing and the reading.
    return undefined
  }
}

/** The second field is the program's name in parentheses and may itself hold spaces and parentheses. */
export function parseStat(text: string): ProcessRow | undefined {
  const close = text.lastIndexOf(')')
  const [state, ppid, pgrp, session, ...rest] = text.slice(close + 2).split(' ')
  const pid = Number.parseInt(text, 10)
  const startTicks = Number(rest[15])
  if (close < 0 || state === undefined || !Number.isInteger(pid) || !Number.isFinite(startTicks))
    return undefined
  return { pid, ppid: Number(ppid), pgrp: Number(pgrp), session: Number(session), state, startTicks }
}

export const isAlive = (row: ProcessRow): boolean => row.state !== 'Z' && row.state !== 'X'

/** Living processes below any of `roots`, parents before children. */
export function descendantsOf(table: readonly ProcessRow[], roots: readonly number[]): readonly ProcessRow[] {
  const found = new Map<number, ProcessRow>()
  for (let layer = roots; layer.length > 0;) {
    const children = table.filter(
      (row) => layer.includes(row.ppid) && !found.has(row.pid) && !roots.includes(row.pid),
    )
    for (const row of children) found.set(row.pid, row)
    layer = children.map((row) => row.pid)
  }
  return [...found.values()].filter(isAlive)
}
