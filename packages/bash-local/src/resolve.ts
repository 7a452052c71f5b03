/** Request to spec: fills in every default and refuses what no command could run with. Pure. */

import { resolve as resolvePath } from 'node:path'
import type { BashExecRequest, BashExecSpec } from 'dsh-bash'
import type { ResolvedConfig } from './config.ts'
import { checkEnvironment } from './environment.ts'

/**
 * The local meaning of a request. `owner`, `sandboxMode` and `sandboxPolicy` are carried through as they are.
 * @throws {TypeError} naming the field at fault.
 */
export function resolveRequest(request: BashExecRequest, config: ResolvedConfig): BashExecSpec {
  checkText('command', request.command)
  if (request.workdir !== undefined) checkText('workdir', request.workdir)
  if (request.stdin !== undefined && typeof request.stdin !== 'string')
    throw new TypeError('stdin must be a string')
  checkEnvironment(request)
  return {
    command: request.command,
    workdir: resolvePath(config.cwd, request.workdir ?? '.'),
    timeoutMs: Math.min(
      positiveNumber('timeoutMs', request.timeoutMs ?? config.timeoutMs),
      config.maxTimeoutMs,
    ),
    stdoutMaxBytes: positiveNumber('stdoutMaxBytes', request.stdoutMaxBytes ?? config.maxOutputBytes),
    signal: request.signal,
    stdin: request.stdin,
    env: request.env,
    dshEnv: request.dshEnv,
    owner: request.owner,
    sandboxMode: request.sandboxMode,
    sandboxPolicy: request.sandboxPolicy,
  }
}

/** An argument of execve(2) and a path end at their first NUL, so the rest would silently be lost. */
function checkText(name: string, value: unknown): void {
  if (typeof value !== 'string') throw new TypeError(`${name} must be a string`)
  if (value.includes('\0')) throw new TypeError(`${name} must not contain a NUL byte`)
}

function positiveNumber(name: string, value: number): number {
  if (Number.isFinite(value) && value > 0) return value
  throw new TypeError(`${name} must be a positive finite number, not ${value}`)
}
