/**
 * What a host may lack. What `DSH_REQUIRE_BACKENDS` asks for (`1` for everything, or names with commas) counts as there, so
 * that a test which needs it runs, and fails on a host without it.
 */

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { TestContext } from 'vitest'

/** Where the build leaves its programs. */
export const BUILT = join(import.meta.dirname, '..', '..', 'build', 'Release')

/** The launcher under test: what was built here, or another one (a prebuild) by its absolute path. */
export const LAUNCHER = process.env['DSH_TEST_LAUNCHER'] ?? join(BUILT, 'landlock-run')

/** Linked with musl, whose words for some errnos differ, and whose execvp(3) gives no script to a shell. */
export const IS_MUSL = LAUNCHER.includes('-musl/')

const required = (process.env['DSH_REQUIRE_BACKENDS'] ?? '').split(',')
const isRequired = (...words: readonly string[]) => ['1', ...words].some((word) => required.includes(word))

const PRESENT = {
  'the launcher': isRequired('landlock') || (isBuilt('landlock-run') && isBuilt('fault-run')),
  'the binding': isRequired('landlock') || (isBuilt('landlock.node') && isBuilt('fault-run')),
  bwrap: isRequired('bwrap') || starts('bwrap', '--unshare-pid', '--ro-bind', '/', '/', '--', 'true'),
} as const

export type Need = keyof typeof PRESENT

function isBuilt(program: string): boolean {
  return existsSync(join(BUILT, program))
}

function starts(program: string, ...args: readonly string[]): boolean {
  return spawnSync(program, args, { stdio: 'ignore' }).status === 0
}

/** False where tests that need `need` are to be skipped. */
export function has(need: Need): boolean {
  return PRESENT[need]
}

/** Ends the test as skipped where `need` is lacking, and says so. */
export function skipWithout(skip: TestContext['skip'], need: Need): void {
  skip(!has(need), `needs ${need}, which is not here`)
}
