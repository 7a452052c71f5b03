/** One provider lent to many executors, each of which is a session of its own: probing once is enough for a suite. */

import { randomUUID } from 'node:crypto'
import type { SandboxProvider } from 'dsh-sandbox'

/** `provider` for one more session. Whoever made `provider` disposes it. */
export function inNewSession(provider: SandboxProvider): SandboxProvider {
  const sessionId = randomUUID()
  return {
    confine: (argv, policy, channel) => provider.confine(argv, { sessionId, ...policy }, channel),
    ready: async () => provider.ready?.(),
  }
}
