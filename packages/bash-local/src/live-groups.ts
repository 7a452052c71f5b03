/**
 * Every process group that this Node process still has to answer for. One `exit` listener for all runners kills what is
 * left. It runs on `process.exit()` and at a normal end, not when a signal ends this process.
 */

import type { ProcessGroup } from './terminate.ts'

const live = new Set<ProcessGroup>()
let isListening = false

/** From now on the group dies with this process. */
export function adopt(group: ProcessGroup): void {
  if (!isListening) process.on('exit', killAll)
  isListening = true
  live.add(group)
}

/** The group has ended. */
export function release(group: ProcessGroup): void {
  live.delete(group)
}

function killAll(): void {
  for (const group of live) group.killNow()
}
