/** Directories whose programs are never run outside the confinement. */

import { deepestRoot, SHARED_MEMORY, type SandboxPolicy } from 'dsh-sandbox'
import { hostPaths } from './path-facts.ts'

/** True for a directory whose programs a command may have put there: under the policy, or as an installed package. */
export function isExposed(
  directory: string,
  { workspaceRoot, writableRoots = [], tmp }: SandboxPolicy,
): boolean {
  if (/\/node_modules(\/|$)/.test(directory)) return true
  const roots = [workspaceRoot, ...writableRoots, ...(tmp === 'host' ? ['/tmp'] : []), SHARED_MEMORY]
  const places = roots.map((root) => hostPaths.physicalPath(root))
  return deepestRoot(places, hostPaths.physicalPath(directory)) !== undefined
}
