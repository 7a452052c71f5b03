/** The bench that the corpus runs on: one provider for all cases, one executor per session of a case. */

import { createSandboxedBash } from 'dsh-bash-sandbox'
import type { CorpusBackend, CorpusUser } from './corpus.ts'
import { makeProvider, type ProviderName } from './leaky-providers.ts'
import type { Bench } from './run-case.ts'
import { inNewSession } from './shared-provider.ts'
import { type KernelName, releaseOf } from './simulated-kernels.ts'

export interface BenchOptions {
  readonly backend: CorpusBackend
  readonly user: CorpusUser
  readonly provider: ProviderName
  readonly leak: string
  /** The kernel that this process is made to see; undefined: the running one. */
  readonly kernel: KernelName | undefined
}

/** Milliseconds between TERM and KILL: short, since no case depends on a long grace. */
const GRACE_MS = 500

/** Lends a bench to `use` and clears it away. Rejects when the backend cannot be used on this host. */
export async function withCorpusBench<Result>(
  options: BenchOptions,
  use: (bench: Bench) => Promise<Result>,
): Promise<Result> {
  const provider = makeProvider(options.provider, options.backend)
  try {
    await provider.ready?.()
    return await use({
      backend: options.backend,
      user: options.user,
      leak: options.leak,
      kernelRelease: options.kernel === undefined ? undefined : releaseOf(options.kernel),
      makeExecutor: (session) =>
        createSandboxedBash({ ...session, provider: inNewSession(provider), graceMs: GRACE_MS }),
    })
  } finally {
    await provider.dispose?.()
  }
}
