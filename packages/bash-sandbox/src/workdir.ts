/** Refuses a working directory that is another directory inside the sandbox. */

import { realpathSync } from 'node:fs'
import { deepestRoot, SandboxPolicyError, type ConfinedArgv } from 'dsh-sandbox'

/** @throws {SandboxPolicyError} the sandbox hides `workdir`. A missing one passes: the spawn core says so itself. */
export function assertWorkdirVisible(workdir: string, confined: ConfinedArgv): void {
  const path = canonical(workdir)
  const masked = deepestRoot(confined.maskedRoots ?? [], path)
  if (masked === undefined) return
  const visible = deepestRoot(confined.visibleRoots ?? [], path)
  if (visible !== undefined && visible.length >= masked.length) return
  throw new SandboxPolicyError(
    'workdir-hidden',
    workdir,
    `working directory ${workdir} lies in ${masked}, which the sandbox replaces by its own; nothing was run. ` +
      'Use the workspace, or a directory elsewhere.',
  )
}

function canonical(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    // It does not exist or cannot be entered: the spawn reports that.
    return path
  }
}
