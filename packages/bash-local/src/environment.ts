/**
 * The environment of a command: what is kept of the harness's own, and what is laid over it. Pure. It guards against
 * handing ambient credentials to a command by accident; a caller that names a value in `env` already holds it.
 */

import { DSH_ENV_PREFIX, isDshName, type BashExecRequest } from 'dsh-bash'

/** Why an ambient variable is withheld. `name` matches names; `value` matches values. */
interface ScrubRule {
  readonly name?: RegExp
  readonly value?: RegExp
  /** Names that the rule leaves alone. */
  readonly except?: RegExp
  readonly reason: string
}

/** `PAT` and its like count only as a whole word between underscores, so that PATH, GIT_ASKPASS and PWD survive. */
export const SCRUB_RULES: readonly ScrubRule[] = [
  {
    name: /KEY|PASSWORD|SECRET|TOKEN/i,
    reason: 'credential words of the harness family, anywhere in a name',
  },
  { name: /PASSWD|PASSPHRASE|PASSCODE/i, reason: 'other spellings of a password' },
  { name: /(^|_)PASS(_|$)/i, reason: 'DB_PASS and its like' },
  { name: /_PWD$/i, reason: 'MYSQL_PWD, read by the MySQL client; PWD and OLDPWD have no underscore' },
  { name: /(^|_)PAT(_|$)/i, reason: 'personal access tokens: GITHUB_PAT' },
  { name: /CREDENTIAL/i, reason: 'GOOGLE_APPLICATION_CREDENTIALS leads to a readable private file' },
  { name: /COOKIE|JWT|BEARER/i, reason: 'session credentials' },
  {
    name: /(^|_)AUTH$|^DOCKER_AUTH_CONFIG$/i,
    reason: 'npm_config__auth, COMPOSER_AUTH: encoded user and password',
  },
  {
    name: /^(SSH_AUTH_SOCK|GPG_AGENT_INFO)$/i,
    reason: 'an agent socket signs with keys that it does not show',
  },
  {
    name: /(^|_)(DATABASE|DB|PG|POSTGRES(QL)?|MYSQL|MARIADB|MONGO(DB)?|REDIS|AMQP|RABBITMQ|BROKER)_UR[IL]$/i,
    reason: 'URLs of databases and queues hold a password as a rule',
  },
  { name: /(^|_)DSN$/i, reason: 'data source names hold a password or an ingest key' },
  {
    name: /CONN(ECTION)?_?STR(ING)?/i,
    reason: 'AZURE_STORAGE_CONNECTION_STRING and its like hold an account key',
  },
  { name: /WEBHOOK/i, reason: 'whoever knows the URL may post' },
  {
    value: /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s]*:[^/?#@\s]+@/i,
    except: /_PROXY$/i,
    reason: 'a URL with a password in it; a proxy stays, since without it no build reaches the network',
  },
]

/** Plain text for a reader that has no terminal: no colour, no cursor movement, no pager that waits for a key. */
export const ENV_OVERRIDES: Readonly<Record<string, string>> = {
  NO_COLOR: '1',
  TERM: 'dumb',
  PAGER: 'cat',
  GIT_PAGER: 'cat',
}

/** What a request says of the environment. */
type EnvironmentRequest = Pick<BashExecRequest, 'env' | 'dshEnv'>

/** The complete environment of one command: scrubbed ambient, overrides, `env`, `dshEnv`; the later wins. */
export function childEnv(request: EnvironmentRequest, ambient: NodeJS.ProcessEnv): Record<string, string> {
  // fromEntries defines own properties, so a variable named __proto__ stays a variable.
  return Object.fromEntries([
    ...inheritedEntries(ambient),
    ['SHLVL', shellLevel(ambient['SHLVL'])],
    ...Object.entries(ENV_OVERRIDES),
    ...Object.entries(request.env ?? {}),
    ...Object.entries(request.dshEnv ?? {}),
  ])
}

/**
 * At least 1. A `bash -c` whose stdin is a socket takes itself for a remote shell's and reads ~/.bashrc, unless it lies in
 * another shell; and a pipe of Node's is a socket. Source: bash(1), "Invocation"; shell.c, run_startup_files.
 */
function shellLevel(ambient: string | undefined): string {
  return Number(ambient) >= 1 ? String(ambient) : '1'
}

function inheritedEntries(ambient: NodeJS.ProcessEnv): [string, string][] {
  return Object.entries(ambient).filter(
    (entry): entry is [string, string] =>
      entry[1] !== undefined && !isDshName(entry[0]) && !isWithheld(entry[0], entry[1]),
  )
}

/** True when some rule withholds this ambient variable. */
export function isWithheld(name: string, value: string): boolean {
  return SCRUB_RULES.some(
    (rule) => (rule.name?.test(name) || rule.value?.test(value)) === true && rule.except?.test(name) !== true,
  )
}

/** @throws {TypeError} a name or value that no process can be given, or a name in the wrong one of the two channels. */
export function checkEnvironment(request: EnvironmentRequest): void {
  for (const [name, value] of Object.entries(request.env ?? {})) {
    checkVariable('env', name, value)
    if (isDshName(name)) {
      throw new TypeError(
        `env must not set ${name}: ${DSH_ENV_PREFIX}* is the harness's own, pass it in dshEnv`,
      )
    }
  }
  for (const [name, value] of Object.entries(request.dshEnv ?? {})) {
    checkVariable('dshEnv', name, value)
    if (!name.startsWith(DSH_ENV_PREFIX)) {
      throw new TypeError(
        `dshEnv must not set ${name}: it takes ${DSH_ENV_PREFIX}* names only, pass it in env`,
      )
    }
  }
}

function checkVariable(channel: string, name: string, value: unknown): void {
  if (name === '' || /[=\0]/.test(name)) {
    throw new TypeError(
      `${channel} has the name ${JSON.stringify(name)}: a name is not empty and holds no "=" or NUL`,
    )
  }
  if (typeof value !== 'string') throw new TypeError(`${channel}.${name} must be a string`)
  if (value.includes('\0')) throw new TypeError(`${channel}.${name} must not contain a NUL byte`)
}
