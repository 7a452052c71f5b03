/**
 * macOS sandbox-exec: argv and profile text as pure functions. Not run on a Mac by us; each rule names the fact it rests
 * on. Paths ride as parameters (`-D`), so that no path is ever quoted into the profile.
 */

import type { RunnerFailureRule } from 'dsh-sandbox'
import { inEveryMode, statementOf } from '../effects.ts'
import type { GroundedPolicy } from '../grounded-policy.ts'
import type { Backend, View } from './backend.ts'
import { tempEnvironment } from './temp-environment.ts'

/** The only path that is ever executed; one found on PATH is not. */
export const SANDBOX_EXEC = '/usr/bin/sandbox-exec'

/** Character devices that programs write. */
const WRITABLE_DEVICES = [
  '/dev/null',
  '/dev/zero',
  '/dev/random',
  '/dev/urandom',
  '/dev/tty',
  '/dev/dtracehelper',
  '/dev/ptmx',
]

export const SEATBELT_FAILURE: RunnerFailureRule = { fatalSignatures: ['sandbox-exec: '], soleOutput: true }

export function seatbeltBackend(): Backend {
  return {
    backend: 'seatbelt',
    statements: inEveryMode(statementOf({ seatbelt: true })),
    signalsReachHost: false,
    runners: [SANDBOX_EXEC],
    launcher: undefined,
    reportsStatus: false,
    wrap: (argv, policy) => seatbeltArgv(argv, policy),
    view: seatbeltView,
  }
}

/** `env` sets the temp inside, where sandbox-exec has no option for it. */
export function seatbeltArgv(argv: readonly string[], policy: GroundedPolicy): readonly string[] {
  const roots = writablePaths(policy)
  const environment = Object.entries(tempEnvironment(seatbeltView(policy).tempDir))
  return [
    SANDBOX_EXEC,
    ...roots.flatMap((path, index) => ['-D', `${rootParameter(index)}=${path}`]),
    '-p',
    seatbeltProfile(roots.length),
    ...['/usr/bin/env', ...environment.map(([name, value]) => `${name}=${value}`)],
    ...argv,
  ]
}

/**
 * Everything is allowed but writing files; then the writable roots are opened. The last matching rule wins.
 * `file-ioctl` is not part of `file-write*`, so terminals keep working under `(allow default)`.
 */
export function seatbeltProfile(rootCount: number): string {
  const devices = WRITABLE_DEVICES.map((path) => `(literal "${path}")`).join(' ')
  const roots = Array.from(
    { length: rootCount },
    (_, index) => `(subpath (param "${rootParameter(index)}"))`,
  ).join(' ')
  return [
    '(version 1)',
    '(allow default)',
    '(deny file-write*)',
    `(allow file-write* ${devices} (regex #"^/dev/ttys[0-9]+$") (regex #"^/dev/fd/"))`,
    ...(rootCount === 0 ? [] : [`(allow file-write* ${roots})`]),
    '(deny signal)',
    '(allow signal (target same-sandbox))',
  ].join('\n')
}

export function seatbeltView(policy: GroundedPolicy): View {
  return {
    tempDir: policy.tmp === 'host' ? '/private/tmp' : policy.temp,
    scratch: [],
    maskedRoots: [],
    visibleRoots: [],
  }
}

function writablePaths(policy: GroundedPolicy): readonly string[] {
  const roots = policy.writable.map(({ path }) => path)
  return policy.tmp === 'private' ? [...roots, policy.temp] : roots
}

function rootParameter(index: number): string {
  return `ROOT_${index}`
}
