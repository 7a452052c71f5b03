/** Which effects a confinement closes: one table, and what follows from it. Pure. */

import {
  FILE_EFFECTS,
  SANDBOX_EFFECTS,
  type ConfinedSandboxMode,
  type SandboxEffect,
  type SandboxEffects,
  type SandboxEnforcement,
} from 'dsh-sandbox'

/** What lies between a command and the host. */
export interface Layers {
  /** bubblewrap's mounts and namespaces. */
  readonly mounts?: boolean
  /** The ABI of the Landlock rules in force; undefined where there are none. */
  readonly landlockAbi?: number | undefined
  /** The launcher's filter on calls that change metadata. */
  readonly metadataFilter?: boolean
  /** Its filter on calls that make device nodes. */
  readonly nodeFilter?: boolean
  /** A seatbelt profile. */
  readonly seatbelt?: boolean
}

interface Closing {
  readonly mounts?: true
  /** The first ABI that closes it. */
  readonly landlock?: number
  readonly metadataFilter?: true
  /** What else has to hold for mounts and Landlock to close it. */
  readonly andNodeFilter?: true
  readonly seatbelt?: true
}

/**
 * What closes each effect. Sources: bwrap(1), user_namespaces(7), pid_namespaces(7); landlock(7), whose rights cover no
 * metadata up to ABI 11; backends/seatbelt.ts for the profile, which nobody has run on a Mac yet.
 */
const CLOSED_BY: Readonly<Record<SandboxEffect, Closing>> = {
  write: { mounts: true, landlock: 1, seatbelt: true },
  create: { mounts: true, landlock: 1, seatbelt: true },
  remove: { mounts: true, landlock: 1, seatbelt: true },
  // Before ABI 2, which brings a right for it, renaming across directories is denied everywhere.
  rename: { mounts: true, landlock: 1, seatbelt: true },
  truncate: { mounts: true, landlock: 3, seatbelt: true },
  metadata: { mounts: true, metadataFilter: true, seatbelt: true },
  // Whiteouts, the one device that needs no capability, can be made in a directory that is writable: no mount is against
  // it, and Landlock takes them for plain files since erratum 4 (Linux 7.2, and stable kernels of August 2026).
  'special-files': { mounts: true, landlock: 1, andNodeFilter: true, seatbelt: true },
  'device-ioctl': { mounts: true, landlock: 5 },
  'signal-host': { mounts: true, landlock: 6, seatbelt: true },
  'ptrace-host': { mounts: true, landlock: 1 },
  'process-visibility': { mounts: true },
  // Modes speak of files; networks and the sockets of other programs stay as they are.
  // Programs reached by a name in the file system. Landlock from ABI 1 closes named pipes, but no socket.
  'unix-pathname': {},
  'unix-abstract': { landlock: 6 },
  tcp: {},
  udp: {},
  read: {},
}

/** A word for every effect. */
export function effectsOf(layers: Layers): SandboxEffects {
  const words = SANDBOX_EFFECTS.map((effect) => [effect, isClosed(effect, layers) ? 'enforced' : 'open'])
  // fromEntries knows no keys; they are all of SANDBOX_EFFECTS.
  return Object.fromEntries(words) as SandboxEffects
}

function isClosed(effect: SandboxEffect, layers: Layers): boolean {
  const closing = CLOSED_BY[effect]
  const kept =
    (closing.mounts === true && layers.mounts === true) ||
    (closing.landlock !== undefined && (layers.landlockAbi ?? 0) >= closing.landlock)
  return (
    (kept && (closing.andNodeFilter !== true || layers.nodeFilter === true)) ||
    (closing.metadataFilter === true && layers.metadataFilter === true) ||
    (closing.seatbelt === true && layers.seatbelt === true)
  )
}

/** `full` when every file effect is enforced. */
export function enforcementOf(effects: SandboxEffects): SandboxEnforcement {
  return FILE_EFFECTS.every((effect) => effects[effect] === 'enforced') ? 'full' : 'partial'
}

/** Both words of a backend for each mode, as it answers for them. */
export interface Statement {
  readonly enforcement: SandboxEnforcement
  /** Undefined: nothing is stated, so nothing may rely on it. */
  readonly effects: SandboxEffects | undefined
  /** Effects that the command's own files are closed to as well. A filter cannot tell whose file a call is about. */
  readonly closedEverywhere: readonly SandboxEffect[]
}

/** The same statement for every mode. */
export function inEveryMode(statement: Statement): Readonly<Record<ConfinedSandboxMode, Statement>> {
  return { 'read-only': statement, 'workspace-write': statement }
}

/** The statement that follows from what lies between. */
export function statementOf(layers: Layers): Statement {
  const effects = effectsOf(layers)
  const filtered = SANDBOX_EFFECTS.filter((effect) => CLOSED_BY[effect].metadataFilter === true)
  const closedEverywhere = layers.metadataFilter === true ? filtered : []
  return { enforcement: enforcementOf(effects), effects, closedEverywhere }
}

/** Those of `required` that are not enforced, in their order. A word that is none counts as open. */
export function openEffects(
  required: readonly SandboxEffect[],
  effects: SandboxEffects | undefined,
): readonly SandboxEffect[] {
  return required.filter((effect) => effects?.[effect] !== 'enforced')
}
