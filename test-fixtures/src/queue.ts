/** A System V message queue outside the sandbox that attacks aim at. It outlives every process, so it has to be ended. */

import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'

export type QueueState = 'there' | 'gone'

export interface Queue {
  readonly id: number
  state(): QueueState
  end(): void
}

export function makeQueue(): Queue {
  const words = execFileSync('ipcmk', ['--queue'], { encoding: 'utf8' })
  const id = Number(/\d+/.exec(words)?.[0])
  if (!Number.isInteger(id)) throw new Error(`ipcmk names no queue: ${words}`)
  return {
    id,
    state: () => (queueIds().includes(id) ? 'there' : 'gone'),
    // An attack that worked has ended it already.
    end: () => void spawnSync('ipcrm', ['--queue-id', String(id)], { stdio: 'ignore' }),
  }
}

/** Queues of this IPC namespace. Source: proc(5), /proc/sysvipc. The second column is the id. */
function queueIds(): readonly number[] {
  const [, ...lines] = readFileSync('/proc/sysvipc/msg', 'utf8').trim().split('\n')
  return lines.map((line) => Number(line.trim().split(/\s+/)[1]))
}
