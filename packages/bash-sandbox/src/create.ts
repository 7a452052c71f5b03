/** The executor without any host: one executor is one session, with a provider of its own unless it is lent one. */

import { randomUUID } from 'node:crypto'
import { createBashRunner } from 'dsh-bash-local'
import type { SandboxExecutionPolicy, SandboxProvider } from 'dsh-sandbox'
import { BACKEND_CHOICES, createLocalSandboxProvider, type BackendChoice } from 'dsh-sandbox-local'
import { localConfig, resolveConfig, type SandboxedBashConfigInput } from './config.ts'
import { SandboxedBashExecutor, type SandboxedBash } from './executor.ts'

/** Restrictions and grants beside mode and root. */
export type PolicyOptions = Omit<SandboxExecutionPolicy, 'mode' | 'workspaceRoot' | 'sessionId'>

export interface SandboxedBashOptions extends SandboxedBashConfigInput {
  /** Absent: the first of the platform's ladder that works. */
  readonly backend?: BackendChoice
  readonly policy?: PolicyOptions
  /** Confines instead of a provider of this host's own; the caller keeps it and disposes it. */
  readonly provider?: SandboxProvider
}

/**
 * Makes an executor and probes for its backend. Without a usable backend it is made all the same, since a later call may
 * find one; every confined call rejects with `SandboxUnavailableError` until then.
 *
 * @throws {TypeError} an option that cannot be used, naming its key.
 */
export async function createSandboxedBash(options: SandboxedBashOptions): Promise<SandboxedBash> {
  const { backend = 'auto', policy = {}, provider: given, ...input } = options
  assertBackendChoice(backend)
  const config = resolveConfig(input)
  const { mode, workspaceRoot } = config
  const provider =
    given ?? createLocalSandboxProvider({ backend, untrustedRoots: untrustedRoots(workspaceRoot, policy) })
  if (mode !== 'danger-full-access') await provider.ready?.()
  const sessionId = randomUUID()
  const afterDispose = async () =>
    given === undefined ? provider.dispose?.() : provider.endSession?.(sessionId)
  const defaults = { ...policy, mode, workspaceRoot, sessionId }
  return new SandboxedBashExecutor(createBashRunner(localConfig(config)), provider, defaults, afterDispose)
}

function assertBackendChoice(backend: string): void {
  if ((BACKEND_CHOICES as readonly string[]).includes(backend)) return
  throw new TypeError(`bash-sandbox: backend: "${backend}" is none of ${BACKEND_CHOICES.join(', ')}`)
}

/** Nothing in what a command may write, or in the directory a checkout is worked from, is run outside the sandbox. */
function untrustedRoots(workspaceRoot: string, { writableRoots = [] }: PolicyOptions): string[] {
  return [workspaceRoot, ...writableRoots, ...workingDirectory()].filter((path) => path !== '/')
}

/** None when it has been removed: nothing can lie in it then. */
function workingDirectory(): readonly string[] {
  try {
    return [process.cwd()]
  } catch {
    // ENOENT of getcwd(2) is its only failure here.
    return []
  }
}
