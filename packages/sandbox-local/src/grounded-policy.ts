/**
 * A policy held against this host: roots pinned, temp made, and every demand that cannot be met refused. What comes out
 * is all that a backend needs to know; it decides nothing more.
 */

import { realpathSync } from 'node:fs'
import {
  isWithin,
  SANDBOX_MODES,
  SHARED_MEMORY,
  SandboxPolicyError,
  type ConfinedSandboxMode,
  type SandboxPolicy,
} from 'dsh-sandbox'
import type { PinnedRoot, RootPins } from './roots.ts'

export interface GroundedPolicy {
  readonly mode: ConfinedSandboxMode
  readonly workspace: PinnedRoot
  /** What the mode opens for writing, the temp aside: none in `read-only`. */
  readonly writable: readonly PinnedRoot[]
  /** `host`: the host's `/tmp` is the temp, and is writable. `private`: `temp` is. */
  readonly tmp: 'private' | 'host'
  /** The session's private temp on the host. */
  readonly temp: string
  /** Directories that the command has no business in: the temps of all sessions. Hidden where a backend can hide. */
  readonly hidden: readonly string[]
}

/** What a policy is held against. */
export interface PolicyGround {
  readonly pins: RootPins
  /** Directories that no writable root may hold, each with the words that name it. */
  readonly guarded: readonly GuardedDirectory[]
  tempOf(sessionId: string | undefined): string
  readonly hidden: readonly string[]
}

export interface GuardedDirectory {
  readonly path: string
  readonly what: string
  readonly rule: 'root-holds-home' | 'root-holds-private-state'
  /** `closed`: nothing below it may be a writable root either. `free`: projects lie there. */
  readonly below: 'closed' | 'free'
}

/** File systems through which the kernel itself is written. */
const KERNEL_FILESYSTEMS = ['/proc', '/sys', '/dev'] as const

/** @throws {SandboxPolicyError} with the rule that is broken. */
export function groundPolicy(policy: SandboxPolicy, ground: PolicyGround): GroundedPolicy {
  assertConfinedMode(policy)
  assertEnforceable(policy)
  const workspace = checkedRoot(policy.workspaceRoot, ground.pins)
  const writable = writableRoots(policy, workspace, ground.pins)
  for (const { path } of writable) assertHoldsNothingGuarded(path, ground.guarded)
  assertHoldsNothingGuarded(SHARED_MEMORY, ground.guarded)
  return {
    mode: policy.mode,
    workspace,
    writable,
    tmp: policy.tmp ?? 'private',
    temp: ground.tempOf(policy.sessionId),
    hidden: ground.hidden,
  }
}

function assertConfinedMode(policy: SandboxPolicy): void {
  const mode: string = policy.mode
  if (mode === 'read-only' || mode === 'workspace-write') return
  throw new TypeError(
    mode === 'danger-full-access'
      ? 'a sandbox provider is never asked for danger-full-access: run the command without it'
      : `unknown sandbox mode "${mode}"; the modes are ${SANDBOX_MODES.join(', ')}`,
  )
}

/** Restrictions that no backend here enforces yet. Asking for one is refused by name. */
function assertEnforceable(policy: SandboxPolicy): void {
  const demands = {
    protectedPaths: (policy.protectedPaths?.length ?? 0) > 0,
    hiddenPaths: (policy.hiddenPaths?.length ?? 0) > 0,
    network: (policy.network ?? 'host') !== 'host',
    unixSockets: (policy.unixSockets ?? 'host') !== 'host',
    limits: Object.values(policy.limits ?? {}).some((limit) => limit !== undefined),
  }
  for (const [field, demanded] of Object.entries(demands)) {
    if (!demanded) continue
    throw new SandboxPolicyError(
      'not-enforceable',
      field,
      `the policy asks for "${field}", which no sandbox backend here enforces yet; nothing was run. Remove it to run without it.`,
    )
  }
}

function writableRoots(policy: SandboxPolicy, workspace: PinnedRoot, pins: RootPins): readonly PinnedRoot[] {
  const hostTemp = policy.tmp === 'host' ? [checkedRoot('/tmp', pins)] : []
  if (policy.mode === 'read-only') return hostTemp
  const extra = (policy.writableRoots ?? []).map((root) => checkedRoot(root, pins))
  return distinct([workspace, ...extra, ...hostTemp])
}

function distinct(roots: readonly PinnedRoot[]): readonly PinnedRoot[] {
  return [...new Map(roots.map((root) => [root.path, root])).values()]
}

function checkedRoot(spelled: string, pins: RootPins): PinnedRoot {
  const root = pins.pin(spelled)
  if (root.path === '/') {
    throw new SandboxPolicyError(
      'root-is-filesystem-root',
      spelled,
      `workspace root ${spelled} is the whole file system; nothing was run. Choose a project directory.`,
    )
  }
  if (KERNEL_FILESYSTEMS.some((kernel) => isWithin(kernel, root.path))) {
    throw new SandboxPolicyError(
      'root-is-kernel-filesystem',
      spelled,
      `workspace root ${spelled} lies in a file system of the kernel; nothing was run. Choose a project directory.`,
    )
  }
  return root
}

function assertHoldsNothingGuarded(root: string, guarded: readonly GuardedDirectory[]): void {
  for (const { path, what, rule, below } of guarded) {
    const holds = isWithin(root, path)
    if (!holds && !(below === 'closed' && isWithin(path, root))) continue
    throw new SandboxPolicyError(
      rule,
      root,
      `writable root ${root} ${holds ? 'holds' : 'lies in'} ${what} (${path}), which a confined command must not ` +
        'write; nothing was run. Choose a project directory that does not.',
    )
  }
}

/** The canonical spelling of a path, or the path itself when it does not exist. */
export function canonicalPath(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}
