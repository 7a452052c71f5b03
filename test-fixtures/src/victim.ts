/** A process outside the sandbox that attacks aim at. It answers as long as it lives. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { setTimeout as delay } from 'node:timers/promises'

export type VictimState = 'alive' | 'dead'

export interface Victim {
  readonly pid: number
  /** `dead` also when it is there but does not answer: stopped, or traced. */
  state(): Promise<VictimState>
  limits(): 'unchanged' | 'changed'
  end(): Promise<void>
}

/** How long a victim may take to answer, in milliseconds. */
const ANSWER_MS = 2_000

/** Starts `cat`: what is written to it comes back only after every signal sent before has been dealt with. */
export function startVictim(): Victim {
  const child = spawn('/bin/cat', [], { stdio: ['pipe', 'pipe', 'ignore'] })
  const { pid } = child
  if (pid === undefined) throw new Error('the victim could not be started: /bin/cat')
  const exited = once(child, 'exit')
  const limits = limitsOf(pid)
  child.stdin.on('error', () => undefined) // EPIPE of a victim that has died; `exited` tells
  return {
    pid,
    state: async () => {
      const answer = once(child.stdout, 'data')
      child.stdin.write('?')
      return Promise.race([
        answer.then((): VictimState => 'alive'),
        exited.then((): VictimState => 'dead'),
        delay<VictimState>(ANSWER_MS, 'dead', { ref: false }),
      ])
    },
    limits: () => (limitsOf(pid) === limits ? 'unchanged' : 'changed'),
    end: async () => {
      child.kill('SIGKILL')
      await exited
    },
  }
}

/** Every resource limit of a process, as text. Source: proc_pid_limits(5). */
function limitsOf(pid: number): string {
  return readFileSync(`/proc/${pid}/limits`, 'utf8')
}
