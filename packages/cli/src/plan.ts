/** What a run will be: flags outrank the profile, the profile outranks the defaults. Pure. */

import { resolve } from 'node:path'
import type { SandboxEffect, SandboxMode } from 'dsh-sandbox'
import { LONGEST_TIMEOUT_MS, type SandboxProfile } from 'dsh-sandbox-profiles'
import type { BackendChoice, RunInvocation } from './arguments.ts'

/** A run with every choice made. */
export interface RunPlan {
  readonly argv: readonly string[]
  readonly mode: SandboxMode
  /** Absolute. */
  readonly workspaceRoot: string
  /** Absolute: where the command starts. A workspace elsewhere says what may be changed, not where to be. */
  readonly cwd: string
  readonly backend: BackendChoice
  /** {@link LONGEST_TIMEOUT_MS} when nobody asked for a limit: a build must not end because a default did. */
  readonly timeoutMs: number
  /** The one temp there is: a host `/tmp` is never opened from here. */
  readonly tmp: 'private'
  /** What the profile requires and what the flags do: a requirement is never taken back. */
  readonly requires: readonly SandboxEffect[]
  readonly json: boolean
}

/** Merges the invocation, its profile if it names one, and the defaults. `cwd` is absolute. */
export function runPlan(run: RunInvocation, profile: SandboxProfile | undefined, cwd: string): RunPlan {
  return {
    argv: run.argv,
    mode: run.mode ?? profile?.mode ?? 'read-only',
    workspaceRoot: resolve(cwd, run.workspace ?? '.'),
    cwd,
    backend: run.backend ?? 'auto',
    timeoutMs: run.timeoutMs ?? profile?.timeoutMs ?? LONGEST_TIMEOUT_MS,
    tmp: profile?.tmp ?? 'private',
    requires: [...new Set([...(profile?.requires ?? []), ...(run.requires ?? [])])],
    json: run.json,
  }
}
