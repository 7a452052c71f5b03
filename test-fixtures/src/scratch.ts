/** What the conformance checks stand on: a folder, gates that a command waits at, and a view of who is still there. */

import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'

/** Lends a new folder below `parent` and removes it. */
export async function withFolder<Result>(
  use: (folder: string) => Promise<Result>,
  parent = '/var/tmp',
): Promise<Result> {
  const folder = realpathSync(mkdtempSync(join(parent, 'dsh-conformance-')))
  try {
    return await use(folder)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The path of one of the tiny programs. */
export function program(name: string): string {
  return fileURLToPath(new URL(`../programs/${name}`, import.meta.url))
}

/** A named pipe. A command that reads from it has started, and goes on when it is released. */
export interface Gate {
  readonly path: string
  /** Resolves when a command has come to the gate. */
  reached(): Promise<FileHandle>
}

export function makeGate(folder: string, name = 'gate'): Gate {
  const path = join(folder, name)
  execFileSync('mkfifo', [path])
  return { path, reached: () => open(path, 'w') }
}

/** Lets the command at the gate go on. */
export async function release(gate: FileHandle): Promise<void> {
  await gate.write('go\n')
  await gate.close()
}

/** Pids of processes, zombies aside, that have `marker` in their environment. */
export function processesMarked(marker: string): readonly string[] {
  return readdirSync('/proc').filter((name) => /^\d+$/.test(name) && environmentOf(name).includes(marker))
}

function environmentOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1')
  } catch {
    // It ended meanwhile, or belongs to somebody else and is not ours.
    return ''
  }
}

/** Waits until `look` finds something. Rejects when it finds nothing for ten seconds. */
export async function until<Found>(what: string, look: () => Found | undefined | false): Promise<Found> {
  const deadline = performance.now() + 10_000
  for (;;) {
    const found = look()
    if (found !== undefined && found !== false) return found
    if (performance.now() > deadline) throw new Error(`still waiting for ${what}`)
    await delay(5)
  }
}
