/** How completely a confinement holds: one word for all file effects, and one word per effect. */

/**
 * - `full`: every one of {@link FILE_EFFECTS} is enforced.
 * - `partial`: one of them is open (an older Landlock ABI; metadata under Landlock), or the backend has a door that no
 *   single act is about and that its report names (bubblewrap without the launcher).
 */
export type SandboxEnforcement = 'full' | 'partial'

/** The effects that a mode speaks of. */
export const FILE_EFFECTS = [
  'write',
  'create',
  'remove',
  'rename',
  'truncate',
  'metadata',
  'special-files',
] as const

/** The effects a backend speaks of one by one. */
export const SANDBOX_EFFECTS = [
  ...FILE_EFFECTS,
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
