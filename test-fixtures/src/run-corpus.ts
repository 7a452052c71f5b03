/**
 * Runs the corpus in a process of its own: as another user where asked, with the leaked descriptors open, and with the
 * variables that a harness must not hand on.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { CorpusBackend, CorpusUser } from './corpus.ts'
import { LEAKED_FILE, openLeak } from './leak.ts'
import type { ProviderName } from './leaky-providers.ts'
import type { CaseReport } from './run-case.ts'
import { type KernelName, simulating } from './simulated-kernels.ts'

export interface CorpusRun {
  /** The program: `dist/corpus-main.js`, where the user can read it. */
  readonly main: string
  readonly backend: CorpusBackend
  readonly user: CorpusUser
  readonly provider: ProviderName
  readonly caseIds: readonly string[]
  /** The kernel that the program, and all that it starts, sees. Absent: the running one. */
  readonly kernel?: KernelName | undefined
}

/** The uid and gid of an ordinary user who owns nothing: `nobody` on most hosts. */
export const ORDINARY_ID = 65534

/** What a harness has in its environment and a command must not see. The value is what cases look for. */
const AMBIENT_SECRETS: Readonly<Record<string, string>> = Object.fromEntries(
  [
    'ANTHROPIC_API_KEY',
    'GITHUB_TOKEN',
    'AWS_SECRET_ACCESS_KEY',
    'PGPASSWORD',
    'GH_PAT',
    'GPG_PASSPHRASE',
    'SESSION_COOKIE',
    'AUTH_JWT',
    'DATABASE_URL',
    'DSH_HOME',
    'dsh_session_id',
  ].map((name) => [name, '/nonexistent/corpus-canary']),
)

/** Runs the cases and answers with their reports. Rejects when the program itself fails. */
export async function runCorpus(run: CorpusRun): Promise<readonly CaseReport[]> {
  const scratch = mkdtempSync('/var/tmp/dsh-corpus-run-')
  try {
    return await runWith(run, scratch)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

async function runWith(run: CorpusRun, scratch: string): Promise<readonly CaseReport[]> {
  const [home, leakFolder] = [join(scratch, 'home'), join(scratch, 'leak')]
  mkdirSync(home)
  const leak = openLeak(leakFolder)
  if (changesUser(run)) giveAway(scratch, home, leakFolder, join(leakFolder, LEAKED_FILE))
  const [program = '', ...args] = commandOf(run, leakFolder)
  const child = spawn(program, args, {
    cwd: home,
    env: { ...process.env, ...AMBIENT_SECRETS, HOME: home },
    stdio: ['ignore', 'pipe', 'pipe', ...leak.stdio],
  })
  leak.close()
  // Both were asked for as pipes above; the type cannot follow a list made at run time.
  if (child.stdout === null || child.stderr === null) throw new Error('the corpus program has no output')
  const [stdout, stderr, [status]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ])
  if (status !== 0 && status !== 1) throw new Error(`the corpus program ended with ${status}: ${stderr}`)
  return reportsIn(stdout, stderr)
}

function changesUser(run: CorpusRun): boolean {
  return run.user === 'user' && process.getuid?.() === 0
}

function giveAway(...paths: readonly string[]): void {
  for (const path of paths) chownSync(path, ORDINARY_ID, ORDINARY_ID)
}

function commandOf(run: CorpusRun, leakFolder: string): readonly string[] {
  const cases = run.caseIds.flatMap((id) => ['--case', id])
  const { main, backend, user, provider, kernel } = run
  return [
    ...(kernel === undefined ? [] : simulating(kernel)),
    ...(changesUser(run)
      ? ['setpriv', `--reuid=${ORDINARY_ID}`, `--regid=${ORDINARY_ID}`, '--clear-groups']
      : []),
    ...[process.execPath, main, '--backend', backend, '--user', user, '--provider', provider],
    ...(kernel === undefined ? [] : ['--kernel', kernel]),
    ...['--leak', leakFolder, ...cases],
  ]
}

function reportsIn(stdout: string, stderr: string): readonly CaseReport[] {
  const lines = stdout.split('\n').filter((line) => line !== '')
  if (lines.length === 0) throw new Error(`the corpus program reported nothing: ${stderr}`)
  // Our own program printed it, from values of this very type.
  return lines.map((line) => JSON.parse(line) as CaseReport)
}
