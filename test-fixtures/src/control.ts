/**
 * The control: runs a script as any careless program would, with nothing of this project in between, so that what an
 * attack can do in the open is known without trusting the code under test. The command inherits the environment and
 * every descriptor that is not close-on-exec.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { buffer } from 'node:stream/consumers'
import type { Ending } from './ending.ts'

export interface ControlCommand {
  readonly script: string
  readonly workdir: string
  readonly env: Readonly<Record<string, string>>
  /** The command's `$TMPDIR`: the world's own, since the host's is not ours to write. */
  readonly temp: string
}

/** Longer than any case takes; a hanging control is killed, and its case is void. */
const CONTROL_TIMEOUT_MS = 20_000

/** Runs `command` in the open, to its end. */
export async function runInTheOpen(command: ControlCommand): Promise<Ending> {
  const child = spawn('bash', ['-c', command.script], {
    cwd: command.workdir,
    env: { ...process.env, TMPDIR: command.temp, ...command.env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: CONTROL_TIMEOUT_MS,
    killSignal: 'SIGKILL',
  })
  const [stdout, stderr, [exit, signal]] = await Promise.all([
    buffer(child.stdout),
    buffer(child.stderr),
    once(child, 'exit'),
  ])
  return { exit, signal, stdout: stdout.toString(), stderr: stderr.toString() }
}
