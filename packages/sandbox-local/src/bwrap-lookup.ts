/** Finds a bubblewrap that may be run: absolute, trusted, recent enough. */

import { realpathSync } from 'node:fs'
import { dirname } from 'node:path'
import { execa } from 'execa'
import semver from 'semver'
import which from 'which'
import type { BackendFailure } from './failure.ts'
import { distrust, type TrustRules } from './trust.ts'

/** The first release with every option that the profile uses (`--ro-bind-try`). Source: bubblewrap's NEWS, 0.3.0. */
const OLDEST = '0.3.0'

/** Where distributions put it. Such a program is preferred to any other on PATH. */
const SYSTEM_DIRECTORIES = ['/usr/bin', '/bin', '/usr/local/bin', '/run/current-system/sw/bin']

const INSTALL = 'install bubblewrap (apt install bubblewrap, dnf install bubblewrap, apk add bubblewrap)'

export type Lookup<T> = { readonly found: T } | { readonly failure: BackendFailure }

export interface FoundBwrap {
  readonly path: string
  readonly version: string
}

/** The first trusted bubblewrap of PATH, system directories first. */
export async function findBwrap(rules: TrustRules, timeoutMs: number): Promise<Lookup<FoundBwrap>> {
  const candidates = systemFirst((await which('bwrap', { all: true, nothrow: true })) ?? [])
  const verdicts = candidates.map((spelled) => judgeCandidate(spelled, rules))
  const trusted = verdicts.find((verdict) => verdict.fault === undefined)
  if (trusted !== undefined) return checkVersion(trusted.path, timeoutMs)
  const [refused] = verdicts
  if (refused === undefined) return { failure: { step: 'find', detail: 'no bwrap on PATH', fix: INSTALL } }
  return { failure: { step: 'trust', detail: `${refused.path} ${refused.fault}`, fix: INSTALL } }
}

function systemFirst(paths: readonly string[]): readonly string[] {
  const absolute = paths.filter((path) => path.startsWith('/'))
  const isSystem = (path: string) => SYSTEM_DIRECTORIES.includes(dirname(path))
  return [...absolute.filter(isSystem), ...absolute.filter((path) => !isSystem(path))]
}

function judgeCandidate(spelled: string, rules: TrustRules): { path: string; fault: string | undefined } {
  try {
    const path = realpathSync.native(spelled)
    return { path, fault: distrust(path, rules) ?? foreignPlace(spelled) }
  } catch (cause) {
    // It vanished, or a directory on the way may not be searched.
    return {
      path: spelled,
      fault: `cannot be examined: ${cause instanceof Error ? cause.message : String(cause)}`,
    }
  }
}

/** Package managers put directories of installed packages on PATH, and any package may bring a program of any name. */
function foreignPlace(spelled: string): string | undefined {
  return spelled.split('/').includes('node_modules')
    ? `was found as ${spelled}, where any package may have put it`
    : undefined
}

async function checkVersion(path: string, timeoutMs: number): Promise<Lookup<FoundBwrap>> {
  const result = await execa(path, ['--version'], {
    cwd: '/',
    reject: false,
    timeout: timeoutMs,
    stdin: 'ignore',
    extendEnv: false,
  })
  const version = semver.coerce(result.stdout)?.version
  if (version === undefined) {
    const detail = `${path} --version says nothing that reads as a version (${result.shortMessage ?? result.stdout})`
    return { failure: { step: 'version', detail, fix: INSTALL } }
  }
  if (semver.lt(version, OLDEST)) {
    return {
      failure: {
        step: 'version',
        detail: `${path} is ${version}; ${OLDEST} or newer is needed`,
        fix: INSTALL,
      },
    }
  }
  return { found: { path, version } }
}
