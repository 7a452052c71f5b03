/**
 * The command line and the exit statuses of `landlock-run`, written once for callers. The grammar and each option's
 * promise are in native/README.md; launch_options.cc reads it.
 */

/** Every option. A value, where there is one, is the next argument (two for `rwPinned`: `DEV:INO`, then the path). */
export const LAUNCHER_OPTIONS = {
  probe: '--probe',
  help: '--help',
  passive: '--passive',
  ignoreSignals: '--ignore-signals',
  privateMounts: '--private-mounts',
  supervise: '--supervise',
  guard: '--guard',
  noLandlock: '--no-landlock',
  ownLimits: '--own-limits',
  readOnly: '--ro',
  readWrite: '--rw',
  readWritePinned: '--rw-pinned',
  device: '--dev',
  setEnv: '--setenv',
  statusFd: '--status-fd',
  end: '--',
} as const

/** Exit status of the launcher's own failures: nothing has run. */
export const LAUNCHER_FAILURE_STATUS = 125

/**
 * Exit statuses that are the launcher's own. PROGRAM may use the same numbers: only the status descriptor, or the line
 * on stderr, tells them apart. Under `--passive` every failure is `failure`.
 */
export const LAUNCHER_EXIT = {
  failure: LAUNCHER_FAILURE_STATUS,
  notExecutable: 126,
  notFound: 127,
} as const

/** How the one stderr line of a failure begins. */
export const LAUNCHER_LINE_PREFIX = 'landlock-run: '
