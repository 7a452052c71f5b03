import { expect, it } from 'vitest'
import type { GroundedPolicy } from '../grounded-policy.ts'
import type { HostFacts } from '../host.ts'
import { bwrapProfile } from './bwrap.ts'
import { customBackend, customFailure } from './custom.ts'

const host: HostFacts = {
  platform: 'linux',
  uid: 1000,
  gid: 1000,
  capabilities: 0n,
  mountsPropagate: false,
  kernelKnobs: [],
  homes: [],
}
const workspace = { path: '/srv/ws', dev: 1n, ino: 2n }
const policy: GroundedPolicy = {
  mode: 'workspace-write',
  workspace,
  writable: [workspace],
  tmp: 'private',
  temp: '/state/t',
  hidden: [],
}

it("gets its own words, bubblewrap's profile, -- and the command, which closes descriptors first", () => {
  const argv = customBackend(['/opt/runner', '--quiet'], host).wrap(['bash', '-c', 'true'], policy, {
    statusFd: 3,
  })
  const profile = ['/opt/runner', '--quiet', ...bwrapProfile(policy, host), '--']
  expect(argv.slice(0, profile.length)).toEqual(profile)
  expect(argv.slice(-3)).toEqual(['bash', '-c', 'true'])
  expect(argv.slice(profile.length, profile.length + 3)).toEqual(['/bin/bash', '-p', '-c'])
})

it('never speaks of a status descriptor', () => {
  expect(customBackend(['/opt/runner'], host)).toMatchObject({
    backend: 'custom',
    runners: ['/opt/runner'],
    reportsStatus: false,
  })
})

it("fails by the operator's words, as the first thing printed", () => {
  expect(customFailure(['runner: ', 'cannot'])).toEqual({
    fatalSignatures: ['runner: ', 'cannot'],
    soleOutput: true,
  })
})
