/** Which policy a call runs under. */

import type { BashExecRequest } from 'dsh-bash'
import { isSandboxMode, SANDBOX_MODES, type SandboxExecutionPolicy } from 'dsh-sandbox'

/**
 * The request's whole policy, else the default one under the request's mode, else the default one. A policy that names no
 * session belongs to the executor's own.
 */
export function executionPolicy(
  request: Pick<BashExecRequest, 'sandboxMode' | 'sandboxPolicy'>,
  defaults: SandboxExecutionPolicy,
): SandboxExecutionPolicy {
  const policy = request.sandboxPolicy ?? { ...defaults, mode: request.sandboxMode ?? defaults.mode }
  if (isSandboxMode(policy.mode)) return { ...policy, sessionId: policy.sessionId ?? defaults.sessionId }
  throw new TypeError(
    `unknown sandbox mode "${String(policy.mode)}"; the modes are ${SANDBOX_MODES.join(', ')}`,
  )
}
