/**
 * `dsh-sandbox run`: one command, confined, from its start to the removal of everything it left. The standard streams
 * are the command's own; with `--json` its output is collected and one object describes the run.
 */

import { BashWorkdirError, type BashExecRequest } from 'dsh-bash'
import { createSandboxedBash, type SandboxedBash } from 'dsh-bash-sandbox'
import { LONGEST_TIMEOUT_MS, loadProfile } from 'dsh-sandbox-profiles'
import type { RunInvocation } from './arguments.ts'
import { type CommandEnd, exitStatus, signalStatus } from './exit-status.ts'
import { faultOf } from './faults.ts'
import { write } from './output.ts'
import { type RunPlan, runPlan } from './plan.ts'
import { message } from './report.ts'
import { type SignalWatch, watchSignals } from './signals.ts'
import { readAll, stdinHasData } from './stdin.ts'

/**
 * What `--json` keeps of each stream, in bytes; of a longer one the end. Six times as much is the most that JSON makes
 * of it, which two streams can do within the longest string of the runtime.
 */
const JSON_OUTPUT_BYTES = 16 * 1024 * 1024

/** A file with the complete stream would go away with this process, so none is written: one byte, the least there is. */
const SPILL_BYTES = 1

/** Resolves with the exit status; rejects when the command was not run. */
export async function runCommand(run: RunInvocation): Promise<number> {
  try {
    return await runPlanned(await planned(run))
  } catch (error) {
    const fault = faultOf(error)
    if (run.json && fault !== undefined)
      await write(process.stdout, `${JSON.stringify({ error: { code: fault.code, message: fault.text } })}\n`)
    throw error
  }
}

async function planned(run: RunInvocation): Promise<RunPlan> {
  const profile = run.profile === undefined ? undefined : await loadProfile(run.profile)
  return runPlan(run, profile, currentDirectory())
}

/** @throws {BashWorkdirError} it was removed, or may not be read. */
function currentDirectory(): string {
  try {
    return process.cwd()
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'ENOENT'
    throw new BashWorkdirError(code, '.', { cause })
  }
}

async function runPlanned(plan: RunPlan): Promise<number> {
  if (plan.mode === 'danger-full-access')
    await write(
      process.stderr,
      message('warning: danger-full-access runs the command without any confinement'),
    )
  const watch = watchSignals()
  try {
    const bash = await createSandboxedBash(bashOptions(plan))
    try {
      return await (plan.json ? runForReport(bash, plan, watch) : runPassedThrough(bash, plan, watch))
    } finally {
      await tidyUp(bash)
    }
  } catch (error) {
    if (watch.received !== undefined) return signalStatus(watch.received)
    throw error
  } finally {
    watch.release()
  }
}

/** What is left behind is said, and does not change how the command ended. */
async function tidyUp(bash: SandboxedBash): Promise<void> {
  try {
    await bash.dispose()
  } catch (error) {
    await write(
      process.stderr,
      message(`left behind: ${error instanceof Error ? error.message : String(error)}`),
    )
  }
}

function bashOptions(plan: RunPlan): Parameters<typeof createSandboxedBash>[0] {
  return {
    mode: plan.mode,
    workspaceRoot: plan.workspaceRoot,
    backend: plan.backend,
    policy: { tmp: plan.tmp, requires: plan.requires },
    cwd: plan.cwd,
    timeoutMs: plan.timeoutMs,
    maxTimeoutMs: LONGEST_TIMEOUT_MS,
    maxOutputBytes: JSON_OUTPUT_BYTES,
    maxSpillBytes: SPILL_BYTES,
  }
}

async function runPassedThrough(bash: SandboxedBash, plan: RunPlan, watch: SignalWatch): Promise<number> {
  const end = await bash.passArgv(plan.argv, { signal: watch.signal })
  await sayTimeout(end)
  return exitStatus(end, watch.received)
}

async function runForReport(bash: SandboxedBash, plan: RunPlan, watch: SignalWatch): Promise<number> {
  const end = await bash.runArgv(plan.argv, await jsonRequest(watch.signal))
  const report = { ...end, mode: plan.mode, backend: end.sandbox?.backend ?? null }
  await sayTimeout(end)
  await write(process.stdout, `${JSON.stringify(report)}\n`)
  return exitStatus(end, watch.received)
}

async function jsonRequest(signal: AbortSignal): Promise<Omit<BashExecRequest, 'command'>> {
  if (!stdinHasData()) return { signal }
  return { signal, stdin: await readAll(process.stdin, signal, sayWaiting) }
}

function sayWaiting(): void {
  void write(process.stderr, message('waiting for standard input to end')).catch(() => undefined)
}

async function sayTimeout(end: CommandEnd & { readonly timeoutMs: number }): Promise<void> {
  if (end.timedOut) await write(process.stderr, message(`timed out after ${end.timeoutMs}ms`))
}
