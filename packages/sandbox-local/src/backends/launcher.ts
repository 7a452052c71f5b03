/**
 * Arguments of `landlock-run`, the launcher that stands before the command under both Linux backends, and before
 * bubblewrap itself. Grammar: native/README.md.
 */

import { LAUNCHER_OPTIONS as OPTION, type DeniableCalls } from 'dsh-landlock'
import type { ConfinementChannel } from 'dsh-sandbox'
import type { PinnedRoot } from '../roots.ts'

/** The launcher as it will be run. */
export interface Launcher {
  readonly path: string
  /** The kernel's Landlock ABI; undefined when the kernel enforces no Landlock. */
  readonly landlockAbi: number | undefined
}

/** What the command may do beneath which paths. */
export interface Grants {
  readonly readable: readonly string[]
  readonly writable: readonly string[]
  readonly pinned: readonly PinnedRoot[]
  readonly devices: readonly string[]
  /** Directories in which plain files are made, used and removed. */
  readonly shared: readonly string[]
}

/** Devices that harmless programs open for writing. */
export const PLAIN_DEVICES = [
  '/dev/null',
  '/dev/zero',
  '/dev/full',
  '/dev/random',
  '/dev/urandom',
  '/dev/tty',
] as const

/**
 * What a terminal of the command's own takes (openpty(3), script(1)): the multiplexer, and the directory in which the
 * kernel then makes the terminal. Its name is not known beforehand, so the directory is granted with all that is in it.
 */
export const TERMINAL_DEVICES = ['/dev/ptmx', '/dev/pts'] as const

/** What the front of another runner does beside closing descriptors. */
export interface FrontLaunch {
  /** True: no mount that the host makes later can arrive inside. */
  readonly privateMounts: boolean
}

/** In front of another runner: closes descriptors, and lets TERM, INT and HUP pass that runner by on their way in. */
export function frontArgv(
  launcher: Launcher,
  { privateMounts }: FrontLaunch,
  runner: readonly string[],
  channel: ConfinementChannel | undefined,
): readonly string[] {
  const mounts = privateMounts ? [OPTION.privateMounts] : []
  return [
    launcher.path,
    OPTION.passive,
    OPTION.ignoreSignals,
    ...mounts,
    ...statusFlag(channel),
    OPTION.end,
    ...runner,
  ]
}

/** Who ends what the command leaves behind when the launcher itself is killed. */
const SUPERVISION = {
  'pid-namespace': [OPTION.supervise],
  guard: [OPTION.supervise, OPTION.guard],
} as const

export interface InnerLaunch {
  readonly grants: Grants
  /** Variables set for the command alone. */
  readonly environment: Readonly<Record<string, string>>
  readonly supervision: keyof typeof SUPERVISION
  /** System calls that fail inside. Naming any makes the launcher fail where `filtersCalls` is false. */
  readonly denied: readonly DeniableCalls[]
}

/** Directly before the command: Landlock grants where the kernel enforces them, and all else the launcher does. */
export function innerArgv(
  launcher: Launcher,
  { grants, environment, supervision, denied }: InnerLaunch,
  argv: readonly string[],
  channel: ConfinementChannel | undefined,
): readonly string[] {
  return [
    launcher.path,
    ...SUPERVISION[supervision],
    ...denied.flatMap((calls) => [OPTION.deny, calls]),
    ...statusFlag(channel),
    ...Object.entries(environment).flatMap(([name, value]) => [OPTION.setEnv, `${name}=${value}`]),
    ...(launcher.landlockAbi === undefined ? [OPTION.noLandlock] : grantFlags(grants)),
    OPTION.end,
    ...argv,
  ]
}

function grantFlags(grants: Grants): readonly string[] {
  return [
    ...grants.readable.flatMap((path) => [OPTION.readOnly, path]),
    ...grants.pinned.flatMap(({ dev, ino, path }) => [OPTION.readWritePinned, `${dev}:${ino}`, path]),
    ...grants.writable.flatMap((path) => [OPTION.readWrite, path]),
    ...grants.devices.flatMap((path) => [OPTION.device, path]),
    ...grants.shared.flatMap((path) => [OPTION.sharedMemory, path]),
  ]
}

function statusFlag(channel: ConfinementChannel | undefined): readonly string[] {
  return channel === undefined ? [] : [OPTION.statusFd, String(channel.statusFd)]
}
