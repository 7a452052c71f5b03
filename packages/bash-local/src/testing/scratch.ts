/** What the tests of this package share: a scratch folder, a look at one process, and waiting for something visible. */

import { readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach } from 'vitest'
import type { BashExecRequest } from 'dsh-bash'
import type { RunnableCommand } from '../command.ts'
import type { ConfigInput } from '../config.ts'
import { childEnv } from '../environment.ts'
import { createBashRunner, type BashRunner } from '../runner.ts'
import { bashArgv } from '../script.ts'

const afterwards: (() => Promise<unknown>)[] = []

afterEach(async () => {
  for (const undo of afterwards.splice(0).reverse()) await undo()
})

/** A new folder, removed after the test. */
export async function scratchFolder(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'bash-local-test-'))
  afterwards.push(() => rm(path, { recursive: true, force: true }))
  return path
}

/** A runner that is disposed of after the test. Short grace unless the test says otherwise. */
export function scratchRunner(config: ConfigInput = {}): BashRunner {
  const runner = createBashRunner({ graceMs: 2_000, ...config })
  afterwards.push(() => runner.dispose())
  return runner
}

/** A request made ready to run as it is, unconfined. */
export function plain(runner: BashRunner, request: BashExecRequest | string): RunnableCommand {
  const spec = runner.resolve(typeof request === 'string' ? { command: request } : request)
  return { argv: bashArgv(spec.command), env: childEnv(spec, process.env), spec }
}

/** True while the process exists and is no zombie. */
export function isRunning(pid: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1')
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2))
  } catch {
    // No such process.
    return false
  }
}

/** Looks every few milliseconds until `look` gives a value. @throws {Error} after 10 s. */
export async function eventually<T>(what: string, look: () => T | undefined | false): Promise<T> {
  const limit = performance.now() + 10_000
  for (;;) {
    const seen = look()
    if (seen !== undefined && seen !== false) return seen
    if (performance.now() > limit) throw new Error(`never seen: ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 5))
  }
}

/** The number in a file, once the command has written it with its newline. */
export async function numberIn(path: string): Promise<number> {
  return eventually(`a number in ${path}`, () => {
    try {
      const text = readFileSync(path, 'utf8')
      return text.endsWith('\n') ? Number(text) : undefined
    } catch {
      // Not written yet.
      return undefined
    }
  })
}
