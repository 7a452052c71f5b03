/** Why a backend is not usable here, and what a person can do about it. */

import type { ConfinedSandboxMode, SandboxBackend, SandboxEnforcement } from 'dsh-sandbox'

/** What is wrong with the launcher, or with the kernel that it asks for Landlock. Words for programs; wording is not. */
export type LauncherFault =
  /** No file at any of the places. */
  | 'launcher-missing'
  /** Empty, cut short, no program, or not a file. */
  | 'launcher-damaged'
  /** A program for another processor. */
  | 'launcher-architecture'
  /** It needs a C library that is not installed. */
  | 'launcher-libc'
  /** This user may not read or execute it. */
  | 'launcher-forbidden'
  /** It looks right, and does not start or does not answer. */
  | 'launcher-fails'
  /** The kernel was built without Landlock, or before it. */
  | 'landlock-absent'
  /** The kernel has it, and it was not turned on at boot. */
  | 'landlock-off'
  /** A filter around this process, as a container has it, refuses the call. */
  | 'landlock-barred'
  /** The kernel refuses for a reason that is not in the table. */
  | 'landlock-refused'

/** One rung's failed step. */
export interface BackendFailure {
  /** `find`, `file` (it is there, and cannot be used), `trust`, `version`, `ruleset`, `start`, `allow` (an allowed write failed) or `deny` (a denied one did not). */
  readonly step: 'find' | 'file' | 'trust' | 'version' | 'ruleset' | 'start' | 'allow' | 'deny'
  /** What was seen, in one line. */
  readonly detail: string
  /** What to do, in one line. */
  readonly fix: string
  /** Set where the launcher, or Landlock asked through it, is what failed. */
  readonly fault?: LauncherFault
}

/** One rung of the ladder as it stands on this host. */
export interface BackendReport {
  readonly backend: SandboxBackend
  readonly usable: boolean
  readonly path?: string
  readonly version?: string
  /** Landlock's ABI, where it is known. */
  readonly abi?: number
  readonly enforcement?: Readonly<Record<ConfinedSandboxMode, SandboxEnforcement>>
  /** What works less well than it could, and why. */
  readonly note?: string
  readonly failure?: BackendFailure
}

/** Every rung's failed step in one line. */
export function describeFailures(reports: readonly BackendReport[]): string {
  return reports
    .flatMap(({ backend, failure }) =>
      failure === undefined ? [] : [`${backend}: ${failure.step}: ${failure.detail} (fix: ${failure.fix})`],
    )
    .join('; ')
}

/** What bubblewrap prints when it cannot start, and the way out. The first match counts. */
const START_FIXES: readonly (readonly [RegExp, string])[] = [
  [
    /setting up uid map: Permission denied|loopback: Failed RTM_NEWADDR/i,
    'allow bubblewrap user namespaces in AppArmor: a profile for its path with "userns," (Ubuntu 24.04 ships one for /usr/bin/bwrap only)',
  ],
  [
    /No permissions to create new namespace|Creating new namespace failed|nesting depth/i,
    'allow user namespaces (kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0; in a container, a seccomp profile that allows them)',
  ],
  [
    /Can't mount proc|Failed to make .* slave|mounting|remount/i,
    'allow mounts in this container (an unmasked /proc, CAP_SYS_ADMIN or user namespaces), or use the Landlock backend',
  ],
  [/Permission denied|EACCES/i, 'let this user execute it, from a file system mounted without noexec'],
  [/timed out/i, 'raise probeTimeoutMs, or see why starting a process takes so long here'],
]

/** The fix for what a runner printed when it did not start. */
export function startFix(text: string): string {
  return (
    START_FIXES.find(([pattern]) => pattern.test(text))?.[1] ??
    'run `dsh-sandbox doctor` and read what the runner says'
  )
}
