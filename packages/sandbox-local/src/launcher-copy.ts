/**
 * The launcher that is run: a copy in private state, since the package may lie in a workspace that commands write. What
 * is copied once, before anything confined has run, stays what it was.
 */

import { randomUUID } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { chmod, copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import {
  LAUNCHER_FAILURE_STATUS,
  LAUNCHER_LINE_PREFIX,
  LAUNCHER_OPTIONS,
  locateLauncher,
  parseProbe,
  type Location,
} from 'dsh-landlock'
import type { Launcher } from './backends/launcher.ts'
import type { Lookup } from './bwrap-lookup.ts'
import type { BackendFailure, LauncherFault } from './failure.ts'

/** A launcher that starts, and why the kernel enforces no Landlock through it, where that is so. */
export interface SettledLauncher extends Launcher {
  /** Where the package keeps it. */
  readonly original: string
  readonly landlockFailure: BackendFailure | undefined
}

/**
 * Copies the launcher into `state` and asks it for the kernel's ABI. The original is trusted as this module is: both come
 * from the same package.
 */
export async function settleLauncher(state: string, timeoutMs: number): Promise<Lookup<SettledLauncher>> {
  const located = locateLauncher()
  if (!('path' in located)) return { failure: locationFailure(located) }
  const original = realpathSync(located.path)
  const copied = await askAbi(await copyInto(state, original), original, timeoutMs)
  // A file system mounted noexec refuses the copy alone; the original is no less ours, but must lie outside every root.
  return 'failure' in copied && /EACCES|permission denied/i.test(copied.failure.detail)
    ? askAbi(original, original, timeoutMs)
    : copied
}

/** Not found, or found and of no use: two things to mend in two ways. */
function locationFailure(located: Exclude<Location, { readonly path: string }>): BackendFailure {
  if ('missing' in located)
    return { step: 'find', detail: located.missing, fix: located.fix, fault: 'launcher-missing' }
  return { step: 'file', detail: located.detail, fix: located.fix, fault: `launcher-${located.unusable}` }
}

/** Where in private state the copy lies. */
export const LAUNCHER_FOLDER = 'bin'

async function copyInto(state: string, original: string): Promise<string> {
  const directory = join(state, LAUNCHER_FOLDER)
  await mkdir(directory, { recursive: true, mode: 0o700 })
  const path = join(directory, `landlock-run-${randomUUID()}`)
  await copyFile(original, path)
  await chmod(path, 0o500)
  return path
}

/** How the launcher begins its line when the kernel gives it no ruleset. Any other failure is its own. */
const RULESET_LINE = `${LAUNCHER_LINE_PREFIX}create-ruleset:`

async function askAbi(path: string, original: string, timeoutMs: number): Promise<Lookup<SettledLauncher>> {
  const result = await execa(path, [LAUNCHER_OPTIONS.probe], {
    cwd: '/',
    reject: false,
    timeout: timeoutMs,
    stdin: 'ignore',
    extendEnv: false,
    stripFinalNewline: false,
  })
  if (result.exitCode === 0) {
    const answer = parseProbe(result.stdout)
    if (answer !== undefined)
      return { found: { path, original, landlockAbi: answer.abi, landlockFailure: undefined } }
  }
  if (result.exitCode === LAUNCHER_FAILURE_STATUS && result.stderr.startsWith(RULESET_LINE))
    return {
      found: {
        path,
        original,
        landlockAbi: undefined,
        landlockFailure: landlockFailure(result.stderr.trim()),
      },
    }
  return {
    failure: {
      step: 'start',
      detail: `${original} --probe: ${result.shortMessage ?? result.stdout}`,
      fix: 'build it anew (`node native/build.mjs` in the workspace), or install the package anew',
      fault: 'launcher-fails',
    },
  }
}

/** Why landlock_create_ruleset fails, by what strerror calls its errno in glibc and in musl. Source: landlock(7), "ERRORS". */
const LANDLOCK_REFUSALS: readonly (readonly [RegExp, LauncherFault, string])[] = [
  [
    /not implemented/i,
    'landlock-absent',
    'run a kernel with Landlock (5.13 or newer, CONFIG_SECURITY_LANDLOCK=y)',
  ],
  [/not supported/i, 'landlock-off', 'enable it at boot: add landlock to the lsm= kernel parameter'],
  [
    /not permitted|permission denied/i,
    'landlock-barred',
    "allow the landlock system calls in this container's seccomp profile",
  ],
]

function landlockFailure(detail: string): BackendFailure {
  const [, fault, fix] = LANDLOCK_REFUSALS.find(([pattern]) => pattern.test(detail)) ?? [
    undefined,
    'landlock-refused' as const,
    'run `landlock-run --probe` and see landlock(7) for its errno',
  ]
  return { step: 'ruleset', detail, fix, fault }
}
