/**
 * The sandbox modes and their ladder. A mode speaks of FILE effects only: network, processes and devices are other
 * fields of a policy, and are the host's unless asked for.
 */

/** Every mode, narrowest first. */
export const SANDBOX_MODES = ['read-only', 'workspace-write', 'danger-full-access'] as const

/**
 * - `read-only`: no file of the host can be changed; the session's private temp is writable.
 * - `workspace-write`: as above, and the workspace root is writable.
 * - `danger-full-access`: no confinement at all. A provider is never asked for it.
 */
export type SandboxMode = (typeof SANDBOX_MODES)[number]

/** A mode that a provider can be asked to enforce. */
export type ConfinedSandboxMode = Exclude<SandboxMode, 'danger-full-access'>

/** The ladder: for each mode, the modes that are strictly wider, narrowest first. */
export const WIDER_MODES = {
  'read-only': ['workspace-write', 'danger-full-access'],
  'workspace-write': ['danger-full-access'],
  'danger-full-access': [],
} as const satisfies Record<SandboxMode, readonly SandboxMode[]>

/** Every mode that some call may be escalated to, narrowest first. */
export const ESCALATION_TARGETS = ['workspace-write', 'danger-full-access'] as const

/** True when `candidate` allows strictly more than `current`. */
export function isWiderMode(candidate: SandboxMode, current: SandboxMode): boolean {
  return (WIDER_MODES[current] as readonly SandboxMode[]).includes(candidate)
}

/** True for a string that names a mode. */
export function isSandboxMode(value: unknown): value is SandboxMode {
  return (SANDBOX_MODES as readonly unknown[]).includes(value)
}

/** True when the mode needs a provider. */
export function isConfinedMode(mode: SandboxMode): mode is ConfinedSandboxMode {
  return mode !== 'danger-full-access'
}
