/**
 * The command line and the exit statuses of `landlock-run`, written once for callers. The grammar and each option's
 * promise are in native/README.md; launch_options.cc reads it.
 */

/** Every option. A value, where there is one, is the next argument (two for `readWritePinned`: `DEV:INO`, then the path). */
export const LAUNCHER_OPTIONS = {
  probe: '--probe',
  help: '--help',
  /** Then pairs of an act and its subject (native/README.md, Single acts); nothing else may follow. */
  tryActs: '--try',
  passive: '--passive',
  ignoreSignals: '--ignore-signals',
  privateMounts: '--private-mounts',
  supervise: '--supervise',
  guard: '--guard',
  noLandlock: '--no-landlock',
  deny: '--deny',
  readOnly: '--ro',
  readWrite: '--rw',
  readWritePinned: '--rw-pinned',
  device: '--dev',
  sharedMemory: '--shm',
  setEnv: '--setenv',
  statusFd: '--status-fd',
  end: '--',
} as const

/** Groups of system calls that `deny` takes, one each time it is given. native/README.md says what each one holds. */
export const DENIABLE_CALLS = ['limits-of-others', 'kernel-surface', 'device-nodes', 'metadata'] as const

export type DeniableCalls = (typeof DENIABLE_CALLS)[number]

/** As Node names them. On these the launcher knows the numbers of calls; elsewhere `deny` fails, and nothing runs. */
const FILTERED_ARCHITECTURES: readonly string[] = ['x64', 'ia32', 'arm64', 'arm']

/** Whether `deny` can hold on an architecture, given as `process.arch` is; the kernel must have filters as well. */
export function filtersCalls(arch: string): boolean {
  return FILTERED_ARCHITECTURES.includes(arch)
}

/**
 * Exit status of the launcher's own failures: nothing has run. PROGRAM may use the same number: only the status
 * descriptor, or the line on stderr, tells them apart. A missing or unusable PROGRAM is 127 or 126, and under `--passive`
 * this one too.
 */
export const LAUNCHER_FAILURE_STATUS = 125

/** How the one stderr line of a failure begins. */
export const LAUNCHER_LINE_PREFIX = 'landlock-run: '
