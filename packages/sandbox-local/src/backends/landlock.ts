/**
 * Landlock alone: the launcher restricts itself and becomes the command. No right covers metadata (chmod, chown, utime,
 * xattr) up to ABI 11: `read-only` denies the calls themselves, `workspace-write` leaves them open, so enforcement is
 * partial there. `/tmp` is the host's and closed; TMPDIR names the session's temp. Terminals and shared memory are the
 * host's and open, since programs find them by fixed names and no rule can tell those of a command from those of others.
 */

import type { DeniableCalls } from 'dsh-landlock'
import { SHARED_MEMORY } from 'dsh-sandbox'
import { statementOf, type Statement } from '../effects.ts'
import type { GroundedPolicy } from '../grounded-policy.ts'
import type { Backend, View } from './backend.ts'
import { innerArgv, PLAIN_DEVICES, TERMINAL_DEVICES, type InnerLaunch, type Launcher } from './launcher.ts'
import { tempEnvironment } from './temp-environment.ts'

/** From this ABI on a command cannot signal what is outside (LANDLOCK_SCOPE_SIGNAL). Source: landlock(7). */
const SCOPES_SIGNALS_ABI = 6

/** What is open under Landlock alone, granted or ungovernable, and the first ABI that closes it; undefined: none does. Source: landlock(7). */
const LANDLOCK_GAPS: readonly (readonly [closedBy: number | undefined, gap: string])[] = [
  [undefined, 'metadata in workspace-write (chmod, chown, utime, xattr)'],
  [undefined, 'terminals of this user and files in /dev/shm'],
  [3, 'truncating files'],
  [SCOPES_SIGNALS_ABI, 'signals to other processes of this user'],
]

/** What stays open on a kernel with this ABI, in words. */
export function landlockGaps(abi: number): string {
  const open = LANDLOCK_GAPS.filter(([closedBy]) => closedBy === undefined || abi < closedBy)
  return `open outside the writable roots: ${open.map(([, gap]) => gap).join('; ')}`
}

function leavesSignalsOpen(abi: number | undefined): boolean {
  return abi === undefined || abi < SCOPES_SIGNALS_ABI
}

/**
 * What no Landlock right covers. Without a PID namespace another process's limits could be set, the harness's own among
 * them. A filter does not see which file a call is about: in `read-only` nobody changes metadata, not in the temp either;
 * in `workspace-write` the workspace needs it.
 */
const DENIED_CALLS: Readonly<Record<GroundedPolicy['mode'], readonly DeniableCalls[]>> = {
  'read-only': ['limits-of-others', 'kernel-surface', 'device-nodes', 'metadata'],
  'workspace-write': ['limits-of-others', 'kernel-surface', 'device-nodes'],
}

export function landlockBackend(launcher: Launcher): Backend {
  const { landlockAbi } = launcher
  return {
    backend: 'landlock',
    statements: {
      'read-only': statement(landlockAbi, 'read-only'),
      'workspace-write': statement(landlockAbi, 'workspace-write'),
    },
    signalsReachHost: leavesSignalsOpen(landlockAbi),
    runners: [launcher.path],
    launcher: launcher.path,
    reportsStatus: true,
    wrap: (argv, policy, channel) => innerArgv(launcher, innerLaunch(policy), argv, channel),
    view: landlockView,
  }
}

function statement(landlockAbi: number | undefined, mode: GroundedPolicy['mode']): Statement {
  const denied = DENIED_CALLS[mode]
  return statementOf({
    landlockAbi,
    metadataFilter: denied.includes('metadata'),
    nodeFilter: denied.includes('device-nodes'),
  })
}

function innerLaunch(policy: GroundedPolicy): InnerLaunch {
  const writable = policy.tmp === 'private' ? [policy.temp] : []
  return {
    grants: {
      readable: ['/'],
      pinned: policy.writable,
      writable,
      devices: [...PLAIN_DEVICES, ...TERMINAL_DEVICES],
      shared: [SHARED_MEMORY],
    },
    environment: tempEnvironment(landlockView(policy).tempDir),
    supervision: 'guard',
    denied: DENIED_CALLS[policy.mode],
  }
}

export function landlockView(policy: GroundedPolicy): View {
  return {
    tempDir: policy.tmp === 'host' ? '/tmp' : policy.temp,
    scratch: [],
    shared: [SHARED_MEMORY],
    maskedRoots: [],
    visibleRoots: [],
  }
}
