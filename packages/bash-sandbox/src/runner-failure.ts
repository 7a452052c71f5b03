/** Whether the runner failed before the command started. Pure: evidence first, then the backend's words. */

import { saysReady, type EndedCommand } from 'dsh-bash-local'
import type { ConfinedArgv, RunnerFailureRule } from 'dsh-sandbox'

/** The launcher's exit status for its own failures; 126 and 127 are about the program that it was to run. */
const LAUNCHER_FAILURE_STATUS = 125

/** The runner's own line when it failed; undefined when the command ran, or was ended by us before it could. */
export function runnerFailure(ended: EndedCommand, confined: ConfinedArgv): string | undefined {
  const spawnFailure = runnerSpawnFailure(ended.spawnError, confined)
  if (spawnFailure !== undefined) return spawnFailure
  if (ended.spawnError !== undefined || endedByUs(ended) || ended.signal !== null) return undefined
  return confined.statusFd === undefined
    ? failureByWords(ended, confined.runnerFailureRules)
    : failureByStatus(ended, ended.statusText ?? '')
}

/** A runner that is ended before it has handed over has not failed. */
function endedByUs({ timedOut, aborted, killed }: EndedCommand): boolean {
  return timedOut || aborted || killed
}

/** The runner itself could not be spawned: it is missing or may not be executed. */
export function runnerSpawnFailure(
  error: NodeJS.ErrnoException | undefined,
  confined: ConfinedArgv,
): string | undefined {
  if (error === undefined || error.path !== confined.argv[0]) return undefined
  return error.code === 'ENOENT' || error.code === 'EACCES' ? error.message : undefined
}

/** The launcher writes `ready` right before the command starts, so its absence says that nothing started. */
function failureByStatus(ended: EndedCommand, status: string): string | undefined {
  if (saysReady(status)) return undefined
  const reported = /^failed .*$/m.exec(status)?.[0]
  // The program is missing or not executable: the command's own fault, told by its status as a shell would.
  if (reported !== undefined && ended.exitCode !== LAUNCHER_FAILURE_STATUS) return undefined
  return (
    firstLine(ended.stderr.text) ??
    reported ??
    `the runner ended with status ${ended.exitCode} before the command started`
  )
}

function failureByWords(ended: EndedCommand, rules: readonly RunnerFailureRule[]): string | undefined {
  if (ended.exitCode === 0 || ended.exitCode === null) return undefined
  for (const rule of rules) {
    const line = matchRule(rule, ended, ended.exitCode)
    if (line !== undefined) return line
  }
  return undefined
}

function matchRule(rule: RunnerFailureRule, ended: EndedCommand, exitCode: number): string | undefined {
  if (rule.allowedExitCodes !== undefined && !rule.allowedExitCodes.includes(exitCode)) return undefined
  if (rule.soleOutput === true && ended.stdout.text !== '') return undefined
  const informational = new Set((rule.informationalLines ?? []).map((line) => line.toLowerCase()))
  const lines = ended.stderr.text
    .split('\n')
    .map((line) => line.replace(/\r$/, ''))
    .filter((line) => line !== '' && !informational.has(line.toLowerCase()))
  const candidates = rule.soleOutput === true ? lines.slice(0, 1) : lines
  const signatures = rule.fatalSignatures
    .filter((signature) => signature.trim() !== '')
    .map((text) => text.toLowerCase())
  return candidates.find((line) => signatures.some((signature) => line.toLowerCase().includes(signature)))
}

function firstLine(text: string): string | undefined {
  return text.split('\n').find((line) => line.trim() !== '')
}
