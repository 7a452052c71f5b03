/**
 * Starts one process in a session and group of its own, with exactly the environment it is given. Whatever keeps it
 * from starting comes back as an error; nothing is thrown later and no `error` event goes unheard.
 */

import type { ChildProcess } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import type { Readable, Writable } from 'node:stream'
import { execa } from 'execa'
import { shortageOf } from './descriptors.ts'

/** What goes where: `collected` streams are pipes to us, `inherited` ones are our own. */
export type StdioPlan = 'collected' | 'inherited'

export interface SpawnPlan {
  readonly argv: readonly string[]
  readonly env: Readonly<Record<string, string>>
  readonly workdir: string
  readonly stdio: StdioPlan
  /** Written to stdin, which is then closed. Undefined: stdin is `/dev/null`. Without effect on inherited stdio. */
  readonly stdin: string | undefined
  /** True: descriptor 3 is a pipe to us. */
  readonly hasStatus: boolean
}

export interface Exit {
  readonly exitCode: number | null
  readonly signal: NodeJS.Signals | null
}

/** A process that runs. */
export interface SpawnedProcess {
  readonly pid: number
  /** Undefined for inherited stdio, as `stderr`. */
  readonly stdout: Readable | undefined
  readonly stderr: Readable | undefined
  readonly status: Readable | undefined
  /** Calls back once, in the turn in which the process was reaped. */
  onExit(listener: (exit: Exit) => void): void
}

/** Started, or the promise of the reason why not. */
export type SpawnOutcome =
  SpawnedProcess | { readonly pid: undefined; readonly failure: Promise<NodeJS.ErrnoException> }

export function spawnProcess(plan: SpawnPlan): SpawnOutcome {
  const shortage = descriptorShortage(plan)
  if (shortage !== undefined) return { pid: undefined, failure: Promise.resolve(shortage) }
  const attempt = callExeca(plan)
  if (!('child' in attempt)) return { pid: undefined, failure: attempt.failure }
  const { child, failure } = attempt
  if (child.pid === undefined) return { pid: undefined, failure }
  // An error after the start is one of a later kill or of a stream; the exit tells all that counts.
  child.on('error', () => {})
  feedStdin(child, plan.stdin)
  return {
    pid: child.pid,
    stdout: child.stdout ?? undefined,
    stderr: child.stderr ?? undefined,
    // Descriptor 3 was asked for as a pipe, and Node gives every extra pipe as a duplex stream.
    status: plan.hasStatus ? (child.stdio[3] as Readable) : undefined,
    onExit: (listener) => void child.once('exit', (exitCode, signal) => listener({ exitCode, signal })),
  }
}

type Stdio = ['inherit', 'inherit', 'inherit', ...'pipe'[]] | ['ignore' | 'pipe', 'pipe', 'pipe', ...'pipe'[]]

function stdioOf(plan: SpawnPlan): Stdio {
  const extra: 'pipe'[] = plan.hasStatus ? ['pipe'] : []
  if (plan.stdio === 'inherited') return ['inherit', 'inherit', 'inherit', ...extra]
  return [plan.stdin === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe', ...extra]
}

/**
 * What the spawn would fail with for want of descriptors: two for each pipe and two for libuv's own report of the exec.
 * Half-way through, Node loses those that it had opened already. Seen: Node 20.20.
 */
function descriptorShortage(plan: SpawnPlan): NodeJS.ErrnoException | undefined {
  const cause = shortageOf(2 + 2 * stdioOf(plan).filter((entry) => entry === 'pipe').length)
  if (cause === undefined) return undefined
  const { code, errno } = cause
  const syscall = `spawn ${plan.argv[0]}`
  return Object.assign(new Error(`${syscall} ${code}`, { cause }), { code, errno, syscall })
}

/** A reader that ends early resets the pipe (EPIPE, ECONNRESET); its exit status says what it made of the input. */
function feedStdin(child: ChildProcess, text: string | undefined): void {
  const stdin: Writable | null = child.stdin
  if (stdin === null || text === undefined) return
  stdin.on('error', () => {})
  stdin.end(text)
}

type Attempt =
  | { readonly child: ChildProcess; readonly failure: Promise<NodeJS.ErrnoException> }
  | { readonly failure: Promise<NodeJS.ErrnoException> }

/**
 * Others in this process may take the last descriptors between the check and the spawn. Then Node returns a child
 * without streams whose `error` event comes a turn later, and execa, which reads those streams, throws before anyone
 * can listen. The channel shows us the child in time. Seen: Node 20.20, execa 9.6.1.
 */
function callExeca(plan: SpawnPlan): Attempt {
  const [file = '', ...args] = plan.argv
  let failure: Promise<NodeJS.ErrnoException> | undefined
  const onCreated = (message: unknown) => {
    // Node publishes { process: ChildProcess } on this channel; only our own synchronous call can publish meanwhile.
    const { process: created } = message as { process: ChildProcess }
    failure = new Promise((resolve) => created.once('error', resolve))
  }
  subscribe('child_process', onCreated)
  try {
    const subprocess = execa(file, args, {
      cwd: plan.workdir,
      env: plan.env,
      extendEnv: false,
      stdio: stdioOf(plan),
      detached: true,
      cleanup: false,
      buffer: false,
      reject: false,
      encoding: 'buffer',
      verbose: 'none',
    })
    const early = subprocess.then((result) => errnoOf(result))
    early.catch(() => {})
    // The types of execa describe the same object more narrowly than its options let the compiler see.
    return { child: subprocess as unknown as ChildProcess, failure: early }
  } catch (error) {
    return { failure: failure ?? Promise.resolve(errnoOf({ cause: error })) }
  } finally {
    unsubscribe('child_process', onCreated)
  }
}

/** execa wraps what Node reported; the report itself has `code`, `syscall` and `path`. */
function errnoOf(result: { readonly cause?: unknown }): NodeJS.ErrnoException {
  return result.cause instanceof Error
    ? result.cause
    : new Error('the process did not start', { cause: result.cause })
}
