/** Refuses a policy under which a command could write what the executor keeps for its caller. */

import { deepestRoot, SandboxPolicyError, SHARED_MEMORY, type SandboxPolicy } from 'dsh-sandbox'
import { hostPaths } from './path-facts.ts'

/** @throws {SandboxPolicyError} a root that the policy opens holds `spillParent`. */
export function assertSpillClosed(spillParent: string, policy: SandboxPolicy): void {
  const opened = openedRoots(policy).map((root) => hostPaths.physicalPath(root))
  const root = deepestRoot(opened, hostPaths.physicalPath(spillParent))
  if (root === undefined) return
  throw new SandboxPolicyError(
    'root-holds-private-state',
    root,
    `writable root ${root} holds the place for spilled output (${spillParent}), which a confined command must not write; ` +
      'nothing was run. Set spillParent to a directory elsewhere.',
  )
}

function openedRoots({ mode, workspaceRoot, writableRoots = [], tmp }: SandboxPolicy): readonly string[] {
  const roots = mode === 'workspace-write' ? [workspaceRoot, ...writableRoots] : []
  return [...roots, ...(tmp === 'host' ? ['/tmp'] : []), SHARED_MEMORY]
}
