/**
 * Variables that must take effect inside the confinement only. A runner is a program too: were it started with
 * `LD_PRELOAD`, the library would run outside.
 */

import { isAbsolute } from 'node:path'

/**
 * Names that a dynamic loader acts on before `main`, glibc's own knobs, and what a shell or interpreter evaluates before
 * its script: an operator's runner may be one. Source: ld.so(8), dyld(1), bash(1), python(1), perlrun(1), node(1).
 */
const LOADER_NAME =
  /^(LD_|DYLD_|GLIBC_TUNABLES$|GCONV_PATH$|LOCPATH$|NLSPATH$|BASH_ENV$|ENV$|BASH_FUNC_|SHELLOPTS$|BASHOPTS$|PS4$|PYTHON(PATH|HOME|USERBASE|STARTUP|EXECUTABLE|PYCACHEPREFIX|PLATLIBDIR|WARNINGS)$|PERL5(OPT|LIB|DB)$|RUBY(OPT|LIB)$|NODE_OPTIONS$)/

/** Names that a runner sets to the session's temp; a caller's own value still wins. */
const TEMP_NAMES: ReadonlySet<string> = new Set(['TMPDIR', 'TMP', 'TEMP', 'TMPPREFIX'])

export interface SplitEnvironment {
  /** What the runner is started with. */
  readonly outside: Readonly<Record<string, string>>
  /** What `env(1)` sets once confined. */
  readonly inside: Readonly<Record<string, string>>
}

/** Where a runner looks when nothing else of its PATH is left: an empty PATH would mean the working directory. */
const SYSTEM_PATH = '/usr/bin:/bin'

/**
 * Splits a command's environment. `explicit` are the names that the caller itself set for this call. A runner may be a
 * script that finds programs on PATH, so directories that a command `canWrite` are on its PATH inside only.
 */
export function splitEnvironment(
  environment: Readonly<Record<string, string>>,
  explicit: Readonly<Record<string, string>>,
  canWrite: (directory: string) => boolean,
): SplitEnvironment {
  const { outside, inside } = splitNames(environment, explicit)
  const path = outside['PATH']
  const safePath = path
    ?.split(':')
    .filter((entry) => isAbsolute(entry) && !canWrite(entry))
    .join(':')
  if (path === undefined || (safePath === path && path !== '')) return { outside, inside }
  return { outside: { ...outside, PATH: safePath || SYSTEM_PATH }, inside: { ...inside, PATH: path } }
}

function splitNames(
  environment: Readonly<Record<string, string>>,
  explicit: Readonly<Record<string, string>>,
): SplitEnvironment {
  const isInside = (name: string) =>
    LOADER_NAME.test(name) || (TEMP_NAMES.has(name) && Object.hasOwn(explicit, name))
  const entries = Object.entries(environment)
  return {
    outside: Object.fromEntries(entries.filter(([name]) => !isInside(name))),
    inside: Object.fromEntries(entries.filter(([name]) => isInside(name))),
  }
}

/** The argv that sets `inside` and becomes `argv`. */
export function withEnvironment(
  inside: Readonly<Record<string, string>>,
  argv: readonly string[],
): readonly string[] {
  const assignments = Object.entries(inside).map(([name, value]) => `${name}=${value}`)
  if (assignments.length === 0) return argv
  // env(1) would take a program with `=` in its name for one more assignment.
  const program = argv[0]?.includes('=') === true ? ['sh', '-c', 'exec "$0" "$@"', ...argv] : argv
  return ['env', ...assignments, ...program]
}
