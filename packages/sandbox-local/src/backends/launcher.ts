/**
 * Arguments of `landlock-run`, the launcher that stands before the command under both Linux backends, and before
 * bubblewrap itself. Grammar: native/README.md.
 */

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
}

/** Devices that harmless programs open for writing. */
export const PLAIN_DEVICES = ['/dev/null', '/dev/zero', '/dev/full', '/dev/random', '/dev/urandom', '/dev/tty'] as const

/** In front of another runner: closes descriptors, and lets TERM, INT and HUP pass that runner by on their way in. */
export function frontArgv(launcher: Launcher, runner: readonly string[], channel: ConfinementChannel | undefined): readonly string[] {
  return [launcher.path, '--passive', '--ignore-signals', ...statusFlag(channel), '--', ...runner]
}

/** Directly before the command: Landlock grants where the kernel enforces them, and all else the launcher does. */
export function innerArgv(
  launcher: Launcher,
  grants: Grants,
  environment: Readonly<Record<string, string>>,
  argv: readonly string[],
  channel: ConfinementChannel | undefined,
): readonly string[] {
  return [
    launcher.path,
    ...statusFlag(channel),
    ...Object.entries(environment).flatMap(([name, value]) => ['--setenv', `${name}=${value}`]),
    ...(launcher.landlockAbi === undefined ? ['--no-landlock'] : grantFlags(grants)),
    '--',
    ...argv,
  ]
}

function grantFlags(grants: Grants): readonly string[] {
  return [
    ...grants.readable.flatMap((path) => ['--ro', path]),
    ...grants.pinned.flatMap(({ dev, ino, path }) => ['--rw-pinned', `${dev}:${ino}`, path]),
    ...grants.writable.flatMap((path) => ['--rw', path]),
    ...grants.devices.flatMap((path) => ['--dev', path]),
  ]
}

function statusFlag(channel: ConfinementChannel | undefined): readonly string[] {
  return channel === undefined ? [] : ['--status-fd', String(channel.statusFd)]
}
