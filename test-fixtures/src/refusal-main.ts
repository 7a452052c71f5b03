/**
 * What an executor makes of a host, for a process that sees another kernel: one JSON line per mode and way of running,
 * with the error and whether the command has run all the same.
 *
 *     node dist/refusal-main.js BACKEND
 */

import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { BashExecutor } from 'dsh-bash'
import { createSandboxedBash } from 'dsh-bash-sandbox'
import type { ConfinedSandboxMode } from 'dsh-sandbox'
import { SandboxUnavailableError } from 'dsh-sandbox'
import { backendNamed } from './corpus.ts'
import { withFolder } from './scratch.ts'

/** Writes where both modes let it, had it run. */
const SCRIPT = 'echo ran > "$TMPDIR/ran" && cat "$TMPDIR/ran"; echo ran > ran'

type Way = (bash: BashExecutor) => Promise<string>

const WAYS = {
  run: async (bash) => (await bash.run(bash.resolve({ command: SCRIPT }))).stdout.text,
  start: async (bash) => {
    const started = bash.start(bash.resolve({ command: SCRIPT }))
    await started.done
    return started.readOutput().delta
  },
} as const satisfies Record<string, Way>

/** What became of one call. */
export interface Attempt {
  readonly mode: ConfinedSandboxMode
  readonly way: keyof typeof WAYS
  /** What the command printed; empty where it has not run. */
  readonly printed: string
  /** Whether it has left its file in the workspace. */
  readonly written: boolean
  readonly code?: string
  readonly detail?: string | undefined
}

const [wanted] = process.argv.slice(2)
const backend = backendNamed(wanted)

async function attempt(mode: ConfinedSandboxMode, way: keyof typeof WAYS, folder: string): Promise<Attempt> {
  const workspaceRoot = join(folder, `${mode}-${way}`)
  mkdirSync(workspaceRoot)
  const bash = await createSandboxedBash({ mode, backend, workspaceRoot })
  const seen = (printed: string) => ({ mode, way, printed, written: existsSync(join(workspaceRoot, 'ran')) })
  try {
    return seen(await WAYS[way](bash))
  } catch (error) {
    if (!(error instanceof SandboxUnavailableError)) throw error
    return { ...seen(''), code: error.code, detail: error.detail }
  } finally {
    await bash.dispose()
  }
}

await withFolder(async (folder) => {
  for (const mode of ['read-only', 'workspace-write'] as const) {
    for (const way of ['run', 'start'] as const) console.log(JSON.stringify(await attempt(mode, way, folder)))
  }
})
