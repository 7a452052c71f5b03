/** Asks the provider about this host. */

import { createLocalSandboxProvider, type BackendReport } from 'dsh-sandbox-local'

/** Tries every backend, in the order in which they are preferred. Leaves nothing behind. */
export async function examineBackends(): Promise<readonly BackendReport[]> {
  const provider = createLocalSandboxProvider()
  try {
    return await provider.diagnose()
  } finally {
    await provider.dispose()
  }
}
