/**
 * The launcher that is run: a copy in private state, since the package may lie in a workspace that commands write. What
 * is copied once, before anything confined has run, stays what it was.
 */

import { randomUUID } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { chmod, copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { execa } from 'execa'
import { LAUNCHER_FAILURE_STATUS, LAUNCHER_OPTIONS, locateLauncher, parseProbe } from 'dsh-landlock'
import type { Launcher } from './backends/launcher.ts'
import type { Lookup } from './bwrap-lookup.ts'
import type { BackendFailure } from './failure.ts'

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
  if ('missing' in located) {
    return {
      failure: {
        step: 'find',
        detail: located.missing,
        fix: 'build it: a C++ compiler, make and python3, then `npm run setup`',
      },
    }
  }
  const original = realpathSync(located.path)
  const copied = await askAbi(await copyInto(state, original), original, timeoutMs)
  // A file system mounted noexec refuses the copy alone; the original is no less ours, but must lie outside every root.
  return 'failure' in copied && /EACCES|permission denied/i.test(copied.failure.detail)
    ? askAbi(original, original, timeoutMs)
    : copied
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
  if (result.exitCode === LAUNCHER_FAILURE_STATUS) {
    const detail = result.stderr.trim()
    return {
      found: {
        path,
        original,
        landlockAbi: undefined,
        landlockFailure: { step: 'ruleset', detail, fix: landlockFix(detail) },
      },
    }
  }
  const detail = `${path} --probe: ${result.shortMessage ?? result.stdout}`
  return { failure: { step: 'start', detail, fix: 'build it anew: `node native/build.mjs`' } }
}

/** The errno of landlock_create_ruleset tells the reason. Source: landlock(7), "ERRORS". */
function landlockFix(detail: string): string {
  if (/not implemented/i.test(detail))
    return 'run a kernel with Landlock (5.13 or newer, CONFIG_SECURITY_LANDLOCK=y)'
  if (/not supported/i.test(detail)) return 'enable it at boot: add landlock to the lsm= kernel parameter'
  return "allow the landlock system calls in this container's seccomp profile"
}
