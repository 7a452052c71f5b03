/** Asks the provider about this host. */

import {
  createLocalSandboxProvider,
  type BackendProof,
  type BackendReport,
  type LocalSandboxProvider,
} from 'dsh-sandbox-local'

/** Tries every backend, in the order in which they are preferred. Leaves nothing behind. */
export function examineBackends(): Promise<readonly BackendReport[]> {
  return withProvider((provider) => provider.diagnose())
}

/** The same, and proves what each of them says it enforces. */
export function proveBackends(): Promise<readonly BackendProof[]> {
  return withProvider((provider) => provider.selfTest())
}

async function withProvider<T>(ask: (provider: LocalSandboxProvider) => Promise<T>): Promise<T> {
  const provider = createLocalSandboxProvider()
  try {
    return await ask(provider)
  } finally {
    await provider.dispose()
  }
}
