/** Interleaved measuring: each round runs every way once, so that what slows the machine down slows all of them down. */
import { spawnSync } from 'node:child_process'

/**
 * Milliseconds of each way over `rounds` rounds.
 * @param {Readonly<Record<string, readonly string[]>>} ways a command line for each name
 * @param {number} rounds
 * @param {import('node:child_process').SpawnSyncOptions} options
 * @returns {Record<string, number[]>}
 */
export function timesOf(ways, rounds, options = {}) {
  const times = Object.fromEntries(Object.keys(ways).map((name) => [name, []]))
  // The first rounds fill caches and are not counted.
  for (let round = -5; round < rounds; round++) {
    for (const [name, [program, ...args]] of Object.entries(ways)) {
      const began = performance.now()
      const { status, error } = spawnSync(program, args, { stdio: 'ignore', ...options })
      const took = performance.now() - began
      if (status !== 0) throw new Error(`${name} ended with ${error ?? status}`)
      if (round >= 0) times[name].push(took)
    }
  }
  return times
}

/** The value that a share of all values does not exceed. */
export function quantile(values, share) {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))]
}

export const median = (values) => quantile(values, 0.5)

/** `1.234` as text with two digits. */
export const digits = (value) => value.toFixed(2)
