/** How completely a confinement holds: one word for all file effects, and one word per effect. */

/**
 * - `full`: every file effect that the mode promises is governed.
 * - `partial`: the backend cannot govern all of them (an older Landlock ABI; metadata under Landlock).
 */
export type SandboxEnforcement = 'full' | 'partial'

/** The effects a backend speaks of one by one. */
export const SANDBOX_EFFECTS = [
  'write',
  'create',
  'remove',
  'rename',
  'truncate',
  'metadata',
  'special-files',
  'device-ioctl',
  'signal-host',
  'ptrace-host',
  'process-visibility',
  'unix-pathname',
  'unix-abstract',
  'tcp',
  'udp',
  'read',
] as const

/** One kind of act that a command can do to the world outside its sandbox. */
export type SandboxEffect = (typeof SANDBOX_EFFECTS)[number]

/** `enforced`: the act is stopped outside what the policy grants. `open`: nothing stops it. Never "maybe". */
export type SandboxEffectState = 'enforced' | 'open'

/** A word for every effect. */
export type SandboxEffects = Readonly<Record<SandboxEffect, SandboxEffectState>>
