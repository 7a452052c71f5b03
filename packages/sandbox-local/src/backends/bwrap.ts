/**
 * bubblewrap: mounts and namespaces. The host is read-only, `/dev` and `/proc` are fresh, `/tmp` is the session's own,
 * and the launcher inside closes descriptors and puts Landlock underneath.
 */

import { filtersCalls, type DeniableCalls } from 'dsh-landlock'
import { isWithin, type ConfinementChannel, type RunnerFailureRule } from 'dsh-sandbox'
import { inEveryMode, statementOf, type Statement } from '../effects.ts'
import type { GroundedPolicy } from '../grounded-policy.ts'
import type { HostFacts } from '../host.ts'
import type { Backend, View } from './backend.ts'
import { frontArgv, innerArgv, type InnerLaunch, type Launcher } from './launcher.ts'
import { tempEnvironment } from './temp-environment.ts'

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
 * bubblewrap at `path`. Without a launcher, bash closes descriptors inside and no Landlock lies underneath. Two doors stay
 * open then: a host mount that is made later, and a standard stream that is a file or directory of the host's. With no
 * Landlock underneath, for whatever reason, no mount stops a write to a pipe of the host's.
 */
export function bwrapBackend(path: string, launcher: Launcher | undefined, host: HostFacts): Backend {
  return {
    backend: 'bwrap',
    statements: inEveryMode(statement(launcher)),
    signalsReachHost: false,
    runners: launcher === undefined ? [path] : [path, launcher.path],
    launcher: launcher?.path,
    reportsStatus: launcher !== undefined,
    wrap: (argv, policy, channel) => wrap(path, launcher, host, argv, policy, channel),
    view: bwrapView,
  }
}

function statement(launcher: Launcher | undefined): Statement {
  const landlockAbi = launcher?.landlockAbi
  const nodeFilter = launcher !== undefined && DENIED_CALLS.includes('device-nodes')
  const stated = statementOf({ mounts: true, landlockAbi, nodeFilter })
  // Pipes outside can be written through any mount.
  return landlockAbi === undefined ? { ...stated, enforcement: 'partial' } : stated
}

function wrap(
  path: string,
  launcher: Launcher | undefined,
  host: HostFacts,
  argv: readonly string[],
  policy: GroundedPolicy,
  channel: ConfinementChannel | undefined,
): readonly string[] {
  const kernelKnobs = knobsToCover(launcher, host)
  const profile = [
    path,
    ...bwrapProfile(policy, { ...host, kernelKnobs }),
    ...boundingSetFlags(launcher, host),
  ]
  if (launcher === undefined) return [...profile, '--', ...descriptorCloser(argv)]
  const inner = innerArgv(launcher, innerLaunch(policy), argv, channel)
  const runner = [...profile, ...launcherFlags(launcher, policy), '--', ...inner]
  return frontArgv(launcher, { privateMounts: needsPrivateMounts(launcher, host) }, runner, channel)
}

/** Knobs that move the whole machine get a mount as well where Landlock underneath closes all of /proc already. */
const GRAVE_KNOBS: ReadonlySet<string> = new Set(['/proc/sys', '/proc/sysrq-trigger'])

/** Each mount costs about 0.1 ms, so the rest is mounted over only where nothing else closes it. */
function knobsToCover(launcher: Launcher | undefined, { kernelKnobs }: HostFacts): readonly string[] {
  return launcher?.landlockAbi === undefined
    ? kernelKnobs
    : kernelKnobs.filter((knob) => GRAVE_KNOBS.has(knob))
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
    ...(tmpOf(policy) === 'scratch' ? ['--tmpfs', TMP] : []),
    ...policy.hidden.flatMap((path) => ['--tmpfs', path]),
    ...(policy.tmp === 'private' ? ['--bind', policy.temp, view.tempDir] : []),
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

/**
 * What `/tmp` is inside.
 * - `session`: the session's temp.
 * - `host`: the host's, since a root of the policy holds it.
 * - `scratch`: empty and new at each call, with roots shown below it. bubblewrap makes the directories they are mounted on,
 *   following links, while it can still write the whole host: never in a directory that a command has written.
 */
function tmpOf({ workspace, writable, temp }: GroundedPolicy): 'session' | 'host' | 'scratch' {
  const roots = [workspace, ...writable].map(({ path }) => path)
  if (roots.some((path) => isWithin(path, TMP))) return 'host'
  return [...roots, temp].some((path) => isWithin(TMP, path)) ? 'scratch' : 'session'
}

/** The session's temp is `/tmp` where it can be, and keeps its own name elsewhere. */
export function bwrapView(policy: GroundedPolicy): View {
  const tmp = tmpOf(policy)
  const workspace = policy.workspace.path
  return {
    tempDir: policy.tmp === 'host' || tmp === 'session' ? TMP : policy.temp,
    scratch: tmp === 'scratch' ? [TMP] : [],
    maskedRoots: [...(tmp === 'host' ? [] : [TMP]), '/dev', '/proc', ...policy.hidden],
    visibleRoots: tmp === 'scratch' && isWithin(TMP, workspace) ? [workspace] : [],
  }
}

/** Mounts govern metadata, and the PID namespace limits. Architectures that no filter knows do without the rest. */
const DENIED_CALLS: readonly DeniableCalls[] = filtersCalls(process.arch)
  ? ['kernel-surface', 'device-nodes']
  : []

/** bubblewrap itself has set the environment, and its PID namespace ends what is left. */
function innerLaunch(policy: GroundedPolicy): InnerLaunch {
  const { tempDir, scratch } = bwrapView(policy)
  const writable = [tempDir, ...scratch, '/dev']
  return {
    grants: { readable: ['/'], pinned: policy.writable, writable, devices: ['/dev'], shared: [] },
    environment: {},
    supervision: 'pid-namespace',
    denied: DENIED_CALLS,
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
