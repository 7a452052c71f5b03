/**
 * Providers that leak on purpose, each in one way, around one that does not. The corpus and the conformance suite must
 * catch every one of them. For tests only: nothing here may confine anything that matters.
 */

import { dirname } from 'node:path'
import type { ConfinedArgv, ConfinementChannel, SandboxPolicy, SandboxProvider } from 'dsh-sandbox'
import { createLocalSandboxProvider } from 'dsh-sandbox-local'
import { BACKEND_CHOICE, type CorpusBackend } from './corpus.ts'

/** `local` is the real one. */
export const PROVIDER_NAMES = [
  'local',
  'leaky-argv',
  'leaky-read-only',
  'leaky-tmp',
  'leaky-descriptors',
  'leaky-parent',
  'leaky-first-policy',
  'leaky-session',
] as const
export type ProviderName = (typeof PROVIDER_NAMES)[number]

export function isProviderName(name: string): name is ProviderName {
  return (PROVIDER_NAMES as readonly string[]).includes(name)
}

type Confine = (argv: readonly string[], policy: SandboxPolicy, channel?: ConfinementChannel) => ConfinedArgv

/** How each provider's `confine` comes from a sound one. Made once per provider, so it may remember. */
const CONFINE = {
  local: (sound) => sound,
  'leaky-argv': passesThrough,
  'leaky-read-only': (sound) => (argv, policy, channel) =>
    sound(argv, { ...policy, mode: 'workspace-write' }, channel),
  'leaky-tmp': (sound) => (argv, policy, channel) => sound(argv, { ...policy, tmp: 'host' }, channel),
  'leaky-descriptors': closesNothing,
  'leaky-parent': (sound) => (argv, policy, channel) => sound(argv, withParent(policy), channel),
  'leaky-first-policy': remembersTheFirst,
  'leaky-session': (sound) => (argv, policy, channel) =>
    sound(argv, { ...policy, sessionId: 'everyone' }, channel),
} as const satisfies Record<ProviderName, (sound: Confine) => Confine>

function passesThrough(sound: Confine): Confine {
  return (argv, policy) => {
    const [program = '', ...args] = argv
    const { statusFd: _unused, ...rest } = sound(argv, policy)
    return { ...rest, argv: [program.startsWith('/') ? program : '/bin/bash', ...args] }
  }
}

function withParent(policy: SandboxPolicy): SandboxPolicy {
  return { ...policy, writableRoots: [...(policy.writableRoots ?? []), dirname(policy.workspaceRoot)] }
}

/** bubblewrap by itself closes no descriptor. Everything else is as it should be. */
function closesNothing(sound: Confine): Confine {
  return (argv, policy) => {
    const { statusFd: _unused, ...rest } = sound(argv, policy)
    const writable =
      policy.mode === 'workspace-write' ? ['--bind', policy.workspaceRoot, policy.workspaceRoot] : []
    const mounts = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc', '--tmpfs', '/tmp', ...writable]
    return {
      ...rest,
      argv: ['/usr/bin/bwrap', '--unshare-pid', '--cap-drop', 'ALL', ...mounts, '--', ...argv],
    }
  }
}

function remembersTheFirst(sound: Confine): Confine {
  let first: SandboxPolicy | undefined
  return (argv, policy, channel) => {
    first ??= policy
    return sound(argv, first, channel)
  }
}

/** Makes the provider of that name for `backend`. The caller disposes it. */
export function makeProvider(name: ProviderName, backend: CorpusBackend): Required<SandboxProvider> {
  const sound = createLocalSandboxProvider({ backend: BACKEND_CHOICE[backend] })
  return {
    confine: CONFINE[name]((argv, policy, channel) => sound.confine(argv, policy, channel)),
    ready: () => sound.ready(),
    endSession: (sessionId) => sound.endSession(sessionId),
    dispose: () => sound.dispose(),
  }
}
