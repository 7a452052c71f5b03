/**
 * Landlock alone: the launcher restricts itself and becomes the command. No right covers metadata (chmod, chown, utime,
 * xattr) up to ABI 11, so enforcement is partial. `/tmp` is the host's and closed; TMPDIR names the session's temp.
 */

import type { GroundedPolicy } from '../grounded-policy.ts'
import type { Backend, View } from './backend.ts'
import { innerArgv, PLAIN_DEVICES, type InnerLaunch, type Launcher } from './launcher.ts'
import { tempEnvironment } from './temp-environment.ts'

export function landlockBackend(launcher: Launcher): Backend {
  return {
    backend: 'landlock',
    enforcement: 'partial',
    runners: [launcher.path],
    reportsStatus: true,
    wrap: (argv, policy, channel) => innerArgv(launcher, innerLaunch(policy), argv, channel),
    view: landlockView,
  }
}

function innerLaunch(policy: GroundedPolicy): InnerLaunch {
  const writable = policy.tmp === 'private' ? [policy.temp] : []
  return {
    grants: { readable: ['/'], pinned: policy.writable, writable, devices: PLAIN_DEVICES },
    environment: tempEnvironment(landlockView(policy).tempDir),
    supervision: 'guard',
  }
}

export function landlockView(policy: GroundedPolicy): View {
  return {
    tempDir: policy.tmp === 'host' ? '/tmp' : policy.temp,
    scratch: [],
    maskedRoots: [],
    visibleRoots: [],
  }
}
