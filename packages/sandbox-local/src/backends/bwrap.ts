/**
 * bubblewrap: mounts and namespaces. The host is read-only, `/dev` and `/proc` are fresh, `/tmp` is the session's own,
 * and the launcher inside closes descriptors and puts Landlock underneath.
 */

import { isWithin, type ConfinementChannel, type RunnerFailureRule } from 'dsh-sandbox'
import type { GroundedPolicy } from '../grounded-policy.ts'
import type { HostFacts } from '../host.ts'
import type { Backend, View } from './backend.ts'
import { frontArgv, innerArgv, type InnerLaunch, type Launcher } from './launcher.ts'
import { tempEnvironment } from './temp-environment.ts'

/** Where bubblewrap mounts the session's temp, unless the policy opens the host's. */
const TMP = '/tmp'

/**
 * What root keeps: enough to use files of other users in the workspace, nothing that undoes a mount, makes a device,
 * opens by handle, traces or loads. Bit numbers: linux/capability.h.
 */
const KEPT_CAPABILITIES = [
  ['CAP_CHOWN', 0n],
  ['CAP_DAC_OVERRIDE', 1n],
  ['CAP_FOWNER', 3n],
  ['CAP_FSETID', 4n],
  ['CAP_SETGID', 6n],
  ['CAP_SETUID', 7n],
  ['CAP_NET_BIND_SERVICE', 10n],
] as const
const CAP_SETPCAP = 8n

/** bubblewrap's own failures end it with 1 before anything else can print. Seen: bubblewrap 0.8.0. */
export const BWRAP_FAILURE: RunnerFailureRule = {
  allowedExitCodes: [1],
  fatalSignatures: ['bwrap: '],
  soleOutput: true,
}

/**
 * bubblewrap at `path`. Without a launcher, bash closes descriptors inside and no Landlock lies underneath; a host mount
 * that is made later can then arrive inside, and writable.
 */
export function bwrapBackend(path: string, launcher: Launcher | undefined, host: HostFacts): Backend {
  return {
    backend: 'bwrap',
    enforcement: launcher === undefined && host.mountsPropagate ? 'partial' : 'full',
    runners: launcher === undefined ? [path] : [path, launcher.path],
    reportsStatus: launcher !== undefined,
    wrap: (argv, policy, channel) => wrap(path, launcher, host, argv, policy, channel),
    view: bwrapView,
  }
}

function wrap(
  path: string,
  launcher: Launcher | undefined,
  host: HostFacts,
  argv: readonly string[],
  policy: GroundedPolicy,
  channel: ConfinementChannel | undefined,
): readonly string[] {
  const profile = [path, ...bwrapProfile(policy, host), ...boundingSetFlags(launcher, host)]
  if (launcher === undefined) return [...profile, '--', ...descriptorCloser(argv)]
  const inner = innerArgv(launcher, innerLaunch(policy), argv, channel)
  const runner = [...profile, ...launcherFlags(launcher, policy), '--', ...inner]
  return frontArgv(launcher, { privateMounts: needsPrivateMounts(launcher, host) }, runner, channel)
}

/** The first ABI that governs every way of writing a file that no grant opens (LANDLOCK_ACCESS_FS_TRUNCATE). */
const GOVERNS_WRITES_ABI = 3

/**
 * Whether mounts have to be cut off from the host's. Root does so at no risk. Others need a user namespace for it, which
 * a host may allow to bubblewrap alone, so they do it only where no Landlock underneath closes what arrives.
 */
function needsPrivateMounts({ landlockAbi = 0 }: Launcher, { mountsPropagate, uid }: HostFacts): boolean {
  return mountsPropagate && (uid === 0 || landlockAbi < GOVERNS_WRITES_ABI)
}

/** With CAP_SETPCAP the launcher empties the bounding set, which bubblewrap leaves full, and drops that capability too. */
function boundingSetFlags(launcher: Launcher | undefined, host: HostFacts): readonly string[] {
  return launcher !== undefined && host.uid === 0 && holds(host, CAP_SETPCAP)
    ? ['--cap-add', 'CAP_SETPCAP']
    : []
}

/** Shows the launcher inside when private state had to be made below a masked root. */
function launcherFlags({ path }: Launcher, policy: GroundedPolicy): readonly string[] {
  return bwrapView(policy).maskedRoots.some((root) => isWithin(root, path)) ? ['--ro-bind', path, path] : []
}

/** The mounts and namespaces, up to but without `--`. Later mounts cover earlier ones. */
export function bwrapProfile(policy: GroundedPolicy, host: HostFacts): readonly string[] {
  const view = bwrapView(policy)
  return [
    '--die-with-parent',
    '--unshare-pid',
    '--unshare-ipc',
    ...capabilityFlags(host),
    ...['--ro-bind', '/', '/'],
    ...['--dev', '/dev'],
    ...['--proc', '/proc'],
    ...(host.uid === 0 ? host.kernelKnobs.flatMap((knob) => ['--ro-bind-try', knob, knob]) : []),
    ...policy.hidden.flatMap((path) => ['--tmpfs', path]),
    ...['--bind', policy.temp, view.tempDir].filter(() => policy.tmp === 'private'),
    ...view.visibleRoots.flatMap((root) => ['--ro-bind', root, root]),
    ...policy.writable.flatMap(({ path }) => ['--bind', path, path]),
    ...Object.entries(tempEnvironment(view.tempDir)).flatMap(([name, value]) => ['--setenv', name, value]),
  ]
}

/** Only uid 0 is given capabilities, and only such as it holds: bubblewrap cannot add others. */
function capabilityFlags(host: HostFacts): readonly string[] {
  const kept = host.uid === 0 ? KEPT_CAPABILITIES.filter(([, bit]) => holds(host, bit)) : []
  return ['--cap-drop', 'ALL', ...kept.flatMap(([name]) => ['--cap-add', name])]
}

function holds(host: HostFacts, bit: bigint): boolean {
  return (host.capabilities >> bit) % 2n === 1n
}

/** `/tmp` is the session's, unless the policy opens the host's or some root of it holds `/tmp`. */
export function bwrapView(policy: GroundedPolicy): View {
  const workspace = policy.workspace.path
  const tmpIsHosts = [policy.workspace, ...policy.writable].some(({ path }) => isWithin(path, TMP))
  return {
    tempDir: policy.tmp === 'host' || !tmpIsHosts ? TMP : policy.temp,
    maskedRoots: [...(tmpIsHosts ? [] : [TMP]), '/dev', '/proc', ...policy.hidden],
    visibleRoots: !tmpIsHosts && isWithin(TMP, workspace) ? [workspace] : [],
  }
}

/** bubblewrap itself has set the environment, and its PID namespace ends what is left. */
function innerLaunch(policy: GroundedPolicy): InnerLaunch {
  const { tempDir } = bwrapView(policy)
  return {
    grants: { readable: ['/'], pinned: policy.writable, writable: [tempDir, '/dev'], devices: ['/dev'] },
    environment: {},
    supervision: 'pid-namespace',
  }
}

/**
 * Without a launcher: a bash that closes every descriptor above 2 and becomes the command. `-p` keeps it from
 * evaluating BASH_ENV and exported functions itself (bash(1), "Invocation").
 */
export function descriptorCloser(argv: readonly string[]): readonly string[] {
  const script =
    'for fd in /proc/self/fd/*; do fd=${fd##*/}; if ((fd > 2)); then eval "exec $fd>&-"; fi; done; exec -- "$@"'
  return ['/bin/bash', '-p', '-c', script, 'bash', ...argv]
}
