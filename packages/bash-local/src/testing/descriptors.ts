/** Makes this process run out of descriptors for a moment. Linux: prlimit(1) lowers its own soft limit. */

import { spawnSync } from 'node:child_process'
import { closeSync, openSync, readFileSync } from 'node:fs'

/** Runs `act` while this process can open only `spare` descriptors more. */
export async function withSpareDescriptors<T>(spare: number, act: () => Promise<T>[]): Promise<T[]> {
  const soft = softLimit()
  setSoftLimit('512')
  const filler: number[] = []
  try {
    for (;;) filler.push(openSync('/dev/null', 'r'))
  } catch {
    // EMFILE: full, which is what was wanted.
  }
  for (const fd of filler.splice(filler.length - spare)) closeSync(fd)
  try {
    return await Promise.all(act())
  } finally {
    for (const fd of filler) closeSync(fd)
    setSoftLimit(soft)
  }
}

function softLimit(): string {
  return /^Max open files\s+(\S+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? ''
}

function setSoftLimit(soft: string): void {
  const { status } = spawnSync('prlimit', [`--pid=${process.pid}`, `--nofile=${soft}:`])
  if (status !== 0) throw new Error('prlimit did not work')
}
