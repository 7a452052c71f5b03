/**
 * Proves a backend on this host: the real profile must let an allowed write through and stop a denied one, in both
 * modes. Runs real processes in a scratch of its own; blocks nothing; judges by the files alone.
 */

import { randomUUID } from 'node:crypto'
import { access, mkdtemp, realpath, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { execa } from 'execa'
import type { ConfinedSandboxMode } from 'dsh-sandbox'
import type { Backend } from './backends/backend.ts'
import { startFix, type BackendFailure } from './failure.ts'
import type { GroundedPolicy } from './grounded-policy.ts'
import { makeRoot, plainPolicy } from './scratch-policy.ts'

/** Ends with a status of its own, so that a runner that never started it cannot be taken for it. */
const PROBE_STATUS = 43
const SCRIPT = `echo x > "$TMPDIR/$1"; echo x > "$2"; echo x > "$3"; exit ${PROBE_STATUS}`

/** What each mode must let through (`true`) and stop (`false`). */
const EXPECTED = {
  'read-only': { temp: true, inside: false, outside: false },
  'workspace-write': { temp: true, inside: true, outside: false },
} as const satisfies Record<ConfinedSandboxMode, Record<'temp' | 'inside' | 'outside', boolean>>

export interface ProbeSite {
  /** A directory that is made for the probe and removed after it; a sibling of the private state. */
  readonly parent: string
  readonly timeoutMs: number
  /** The session temp that the probe may write. */
  readonly temp: string
}

/** Undefined when the backend holds; else the step that failed. Never rejects. */
export async function probe(backend: Backend, site: ProbeSite): Promise<BackendFailure | undefined> {
  try {
    const scratch = await realpath(await mkdtemp(join(site.parent, 'dsh-probe-')))
    try {
      const runs = await Promise.all([
        probeMode(backend, 'read-only', scratch, site),
        probeMode(backend, 'workspace-write', scratch, site),
      ])
      return runs.find((failure) => failure !== undefined)
    } finally {
      await rm(scratch, { recursive: true, force: true })
    }
  } catch (cause) {
    const detail = `the probe itself failed: ${messageOf(cause)}`
    return { step: 'start', detail, fix: `make ${dirname(site.temp)} writable and keep space on it` }
  }
}

async function probeMode(
  backend: Backend,
  mode: ConfinedSandboxMode,
  scratch: string,
  site: ProbeSite,
): Promise<BackendFailure | undefined> {
  const workspace = makeRoot(join(scratch, mode))
  const elsewhere = makeRoot(join(scratch, `${mode}-outside`))
  await assertWritable(elsewhere.path)
  const files = {
    temp: join(site.temp, `probe-${randomUUID()}`),
    inside: join(workspace.path, 'inside'),
    outside: join(elsewhere.path, 'outside'),
  }
  const policy = plainPolicy(mode, workspace, site.temp)
  const started = await runProbe(backend, policy, files, site)
  if (started !== undefined) return started
  return judge(mode, files)
}

async function runProbe(
  backend: Backend,
  policy: GroundedPolicy,
  files: { temp: string; inside: string; outside: string },
  site: ProbeSite,
): Promise<BackendFailure | undefined> {
  const name = files.temp.slice(site.temp.length + 1)
  const argv = backend.wrap(
    ['/bin/sh', '-c', SCRIPT, 'sh', name, files.inside, files.outside],
    policy,
    undefined,
  )
  const [program = '', ...rest] = argv
  const result = await execa(program, rest, {
    cwd: policy.workspace.path,
    stdin: 'ignore',
    reject: false,
    timeout: site.timeoutMs,
    killSignal: 'SIGKILL',
    maxBuffer: 65_536,
    extendEnv: false,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  })
  if (result.exitCode === PROBE_STATUS) return undefined
  const seen = result.timedOut
    ? `timed out after ${site.timeoutMs} ms`
    : (firstLine(result.stderr) ?? result.shortMessage)
  return { step: 'start', detail: seen ?? `ended with status ${result.exitCode}`, fix: startFix(seen ?? '') }
}

async function judge(
  mode: ConfinedSandboxMode,
  files: Record<'temp' | 'inside' | 'outside', string>,
): Promise<BackendFailure | undefined> {
  for (const [place, expected] of Object.entries(EXPECTED[mode]) as [keyof typeof files, boolean][]) {
    const written = await exists(files[place])
    if (written === expected) continue
    return written
      ? {
          step: 'deny',
          detail: `a write that ${mode} must stop went through (${place})`,
          fix: 'do not use this runner: it does not confine',
        }
      : {
          step: 'allow',
          detail: `a write that ${mode} must let through failed (${place})`,
          fix: 'see that private state and workspace lie on writable file systems',
        }
  }
  return undefined
}

/** The denied write must be one that works without a sandbox, or stopping it proves nothing. */
async function assertWritable(directory: string): Promise<void> {
  await writeFile(join(directory, 'control'), '', { flag: 'wx' })
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function firstLine(text: string | undefined): string | undefined {
  return text?.split('\n').find((line) => line.trim() !== '')
}

function messageOf(cause: unknown): string {
  return cause instanceof Error ? cause.message : String(cause)
}
