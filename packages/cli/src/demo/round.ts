/** One round of the demo: every case under one backend and one mode, in a fresh file tree. */

import { setTimeout as delay } from 'node:timers/promises'
import { createSandboxedBash, type SandboxedBash } from 'dsh-bash-sandbox'
import type { BashSandboxInfo } from 'dsh-bash'
import type { SandboxMode } from 'dsh-sandbox'
import type { BackendChoice } from '../arguments.ts'
import { DEMO_CASES, type DemoCase, demoFaults, type Observation } from './cases.ts'
import { isThere, makeScratch, type Scratch } from './scratch.ts'

/** A command of the demo should take milliseconds; this long, in milliseconds, means that it hangs. */
const CASE_TIMEOUT_MS = 20_000
const POLL_MS = 10

/** One command and what came of it. */
export interface DemoRow {
  readonly backend: BackendChoice
  readonly mode: SandboxMode
  readonly demo: DemoCase
  readonly seen: Observation
  readonly enforcement: string
  /** Empty when all is as promised. */
  readonly faults: readonly string[]
}

/** Runs the round and removes its tree. `signal` ends the command that runs; the rest is then left out. */
export async function demoRound(
  backend: BackendChoice,
  mode: SandboxMode,
  signal: AbortSignal,
): Promise<readonly DemoRow[]> {
  const scratch = await makeScratch()
  try {
    const { workspaceRoot } = scratch
    const bash = await createSandboxedBash({ mode, backend, workspaceRoot, cwd: workspaceRoot })
    try {
      return await demoRows(bash, scratch, backend, mode, signal)
    } finally {
      await bash.dispose()
    }
  } finally {
    await scratch.remove()
  }
}

async function demoRows(
  bash: SandboxedBash,
  scratch: Scratch,
  backend: BackendChoice,
  mode: SandboxMode,
  signal: AbortSignal,
): Promise<readonly DemoRow[]> {
  const rows: DemoRow[] = []
  for (const demo of DEMO_CASES as readonly DemoCase[]) {
    signal.throwIfAborted()
    const end = await (demo.background === true
      ? runBehind(bash, demo, signal)
      : runToEnd(bash, demo, signal))
    const fileThere = demo.writes === undefined ? undefined : await isThere(scratch, demo.writes.file)
    const { ended, stdout } = end
    const seen = { fileThere, ended, stdout, denied: end.sandbox?.denied ?? false }
    const enforcement = end.sandbox?.enforcement ?? 'none'
    rows.push({ backend, mode, demo, seen, enforcement, faults: demoFaults(demo, mode, seen) })
  }
  return rows
}

/** How a command ended, whichever way it was run. */
interface DemoEnd {
  readonly ended: number | string
  readonly stdout: string
  readonly sandbox: BashSandboxInfo | undefined
}

async function runToEnd(bash: SandboxedBash, demo: DemoCase, signal: AbortSignal): Promise<DemoEnd> {
  const spec = bash.resolve({ command: demo.script, timeoutMs: CASE_TIMEOUT_MS, signal })
  const { exitCode, signal: death, stdout, sandbox } = await bash.run(spec)
  return { ended: exitCode ?? String(death), stdout: stdout.text, sandbox }
}

async function runBehind(bash: SandboxedBash, demo: DemoCase, signal: AbortSignal): Promise<DemoEnd> {
  const started = bash.start(bash.resolve({ command: demo.script, signal }))
  let stdout = ''
  const hangs = AbortSignal.timeout(CASE_TIMEOUT_MS)
  while (started.status === 'running' && stdout.length < demo.stdout.length && !hangs.aborted) {
    await delay(POLL_MS)
    stdout += started.readOutput().delta
  }
  started.kill()
  await started.done
  stdout += started.readOutput().delta
  return { ended: started.exitCode ?? String(started.signal), stdout, sandbox: started.sandbox }
}
