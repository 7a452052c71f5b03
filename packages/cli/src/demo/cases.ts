/** What the demo runs, as data, and whether what came of it is what the mode promises. Pure. */

import type { SandboxMode } from 'dsh-sandbox'

/** The file tree of one round: `workspace/notes.txt`, `workspace/` where every command starts, and `outside/`. */
export const NOTES = 'hello from the workspace'

/** One command of the demo. */
export interface DemoCase {
  readonly what: string
  readonly script: string
  /** Started with `start()`, read, and ended with `kill()`; else run to its end. */
  readonly background?: true
  /** What it prints. */
  readonly stdout: string
  /** The file it writes, relative to the workspace, and the modes under which that may come to be. */
  readonly writes?: { readonly file: string; readonly allowedUnder: readonly SandboxMode[] }
}

export const DEMO_CASES = [
  { what: 'read a file', script: 'cat notes.txt', stdout: `${NOTES}\n` },
  {
    what: 'write in the workspace',
    script: 'echo x > inside.txt',
    stdout: '',
    writes: { file: 'inside.txt', allowedUnder: ['workspace-write', 'danger-full-access'] },
  },
  {
    what: 'write outside',
    script: 'echo x > ../outside/new.txt',
    stdout: '',
    writes: { file: '../outside/new.txt', allowedUnder: ['danger-full-access'] },
  },
  {
    what: 'run in the background',
    script: 'echo ready; exec sleep 300',
    background: true,
    stdout: 'ready\n',
  },
] as const satisfies readonly DemoCase[]

/** What was seen of one command; the world first. */
export interface Observation {
  /** Whether the case's file is there now; undefined when it writes none. */
  readonly fileThere: boolean | undefined
  /** An exit status, or the name of a signal. */
  readonly ended: number | string
  readonly stdout: string
  readonly denied: boolean
}

/** Everything that is not as `mode` promises; empty when all is well. */
export function demoFaults(demo: DemoCase, mode: SandboxMode, seen: Observation): readonly string[] {
  const allowed = demo.writes === undefined || demo.writes.allowedUnder.includes(mode)
  return [
    ...(demo.writes !== undefined && seen.fileThere !== allowed
      ? [allowed ? 'the file is missing' : 'THE FILE WAS WRITTEN']
      : []),
    ...(seen.denied === allowed ? [allowed ? 'called denied' : 'not called denied'] : []),
    ...(hasEndedWell(demo, allowed, seen.ended) ? [] : [`unexpected end: ${seen.ended}`]),
    ...(seen.stdout === demo.stdout ? [] : [`unexpected output: ${JSON.stringify(seen.stdout)}`]),
  ]
}

/** What to say of a command that did as promised. */
export function demoNote(demo: DemoCase, seen: Observation): string {
  if (demo.background === true) return 'started, read, ended by kill()'
  if (seen.fileThere === undefined) return 'read'
  return seen.fileThere ? 'the file is there' : 'no such file came to be'
}

function hasEndedWell(demo: DemoCase, allowed: boolean, ended: number | string): boolean {
  if (demo.background === true) return ended === 'SIGTERM'
  return allowed ? ended === 0 : ended !== 0 && typeof ended === 'number'
}
