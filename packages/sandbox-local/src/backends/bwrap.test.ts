import { filtersCalls } from 'dsh-landlock'
import { describe, expect, it } from 'vitest'
import type { GroundedPolicy } from '../grounded-policy.ts'
import type { HostFacts } from '../host.ts'
import type { PinnedRoot } from '../roots.ts'
import { bwrapBackend, bwrapProfile, bwrapView } from './bwrap.ts'
import type { Launcher } from './launcher.ts'

const BWRAP = '/usr/bin/bwrap'
/** Architectures that no filter knows do without. */
const DENIED = ['--deny', 'kernel-surface', '--deny', 'device-nodes']
const INNER = ['--supervise', ...(filtersCalls(process.arch) ? DENIED : [])]
const LAUNCHER: Launcher = { path: '/var/tmp/state/bin/launcher', landlockAbi: 7 }
const TEMP = '/var/tmp/state/sessions/tmp-1'
const ALL_CAPABILITIES = (1n << 41n) - 1n

const rootAt = (path: string, ino = 7n): PinnedRoot => ({ path, dev: 5n, ino })

const USER: HostFacts = {
  platform: 'linux',
  uid: 1000,
  gid: 1000,
  capabilities: 0n,
  mountsPropagate: false,
  kernelKnobs: ['/proc/sys'],
  homes: [],
}
const ROOT: HostFacts = {
  ...USER,
  uid: 0,
  gid: 0,
  capabilities: ALL_CAPABILITIES,
  kernelKnobs: ['/proc/sys', '/proc/sysrq-trigger'],
}

function policy(workspace: string, facts: Partial<GroundedPolicy> = {}): GroundedPolicy {
  const writable = facts.mode === 'read-only' ? [] : [rootAt(workspace)]
  return {
    mode: 'workspace-write',
    workspace: rootAt(workspace),
    writable,
    tmp: 'private',
    temp: TEMP,
    hidden: [],
    ...facts,
  }
}
const readOnly = (workspace: string, facts: Partial<GroundedPolicy> = {}) =>
  policy(workspace, { mode: 'read-only', ...facts })

const setTemp = (path: string) =>
  Object.entries({ TMPDIR: path, TMP: path, TEMP: path, TMPPREFIX: `${path}/zsh` }).flatMap(
    ([name, value]) => ['--setenv', name, value],
  )

const HEAD = ['--die-with-parent', '--unshare-pid', '--unshare-ipc', '--cap-drop', 'ALL']
const MOUNTS = ['--ro-bind', '/', '/', '--dev', '/dev', '--proc', '/proc']

/** All mounts of the profile, in order. */
function mountsOf(profile: readonly string[]): readonly string[] {
  return profile.flatMap((word, at) => {
    if (word === '--tmpfs') return [profile.slice(at, at + 2).join(' ')]
    return /^--(ro-)?bind(-try)?$/.test(word) ? [profile.slice(at, at + 3).join(' ')] : []
  })
}

/** The mounts of the profile: flag, source, destination. */
function binds(profile: readonly string[]): readonly string[] {
  return profile.flatMap((word, at) =>
    /^--(ro-)?bind(-try)?$/.test(word) ? [profile.slice(at, at + 3).join(' ')] : [],
  )
}

const keptCapabilities = (profile: readonly string[]) =>
  profile.filter((_, at) => profile[at - 1] === '--cap-add')

describe('the profile', () => {
  it('of a user, workspace-write', () => {
    expect(bwrapProfile(policy('/srv/ws'), USER)).toEqual([
      ...HEAD,
      ...MOUNTS,
      ...['--bind', TEMP, '/tmp'],
      ...['--bind', '/srv/ws', '/srv/ws'],
      ...setTemp('/tmp'),
    ])
  })

  it("hides other sessions' temps before the session's own is mounted", () => {
    const hiding = bwrapProfile(policy('/srv/ws', { hidden: ['/var/tmp/s/sessions'] }), USER)
    const at = hiding.indexOf('--tmpfs')
    expect(hiding.slice(at, at + 5)).toEqual(['--tmpfs', '/var/tmp/s/sessions', '--bind', TEMP, '/tmp'])
  })

  it('of a user, read-only: nothing of the host is writable but the temp', () => {
    expect(bwrapProfile(readOnly('/srv/ws'), USER)).toEqual([
      ...HEAD,
      ...MOUNTS,
      '--bind',
      TEMP,
      '/tmp',
      ...setTemp('/tmp'),
    ])
  })

  it('of root: kept capabilities, and every kernel knob read-only behind the fresh /proc', () => {
    const profile = bwrapProfile(readOnly('/srv/ws'), ROOT)
    expect(keptCapabilities(profile)).toEqual([
      'CAP_CHOWN',
      'CAP_DAC_OVERRIDE',
      'CAP_FOWNER',
      'CAP_FSETID',
      'CAP_SETGID',
      'CAP_SETUID',
      'CAP_NET_BIND_SERVICE',
    ])
    expect(binds(profile)).toEqual([
      '--ro-bind / /',
      '--ro-bind-try /proc/sys /proc/sys',
      '--ro-bind-try /proc/sysrq-trigger /proc/sysrq-trigger',
      `--bind ${TEMP} /tmp`,
    ])
    expect(profile.indexOf('/proc/sys')).toBeGreaterThan(profile.indexOf('--proc'))
  })

  it('of uid 0 without capabilities adds none, since bubblewrap would refuse', () => {
    const profile = bwrapProfile(readOnly('/srv/ws'), { ...ROOT, capabilities: 0n })
    expect(keptCapabilities(profile)).toEqual([])
    expect(binds(profile)).toContain('--ro-bind-try /proc/sys /proc/sys')
  })

  it("of uid 0 in Docker's default set adds what is held", () => {
    // CHOWN, DAC_OVERRIDE, FOWNER, FSETID, KILL, SETGID, SETUID, SETPCAP, NET_BIND_SERVICE, NET_RAW, SYS_CHROOT, MKNOD,
    // AUDIT_WRITE, SETFCAP.
    expect(
      keptCapabilities(bwrapProfile(readOnly('/srv/ws'), { ...ROOT, capabilities: 0xa80425fbn })),
    ).toHaveLength(7)
    const chownAlone = bwrapProfile(readOnly('/srv/ws'), { ...ROOT, capabilities: 1n })
    expect(keptCapabilities(chownAlone)).toEqual(['CAP_CHOWN'])
  })

  it('of a user with ambient capabilities keeps none', () => {
    expect(
      keptCapabilities(bwrapProfile(policy('/srv/ws'), { ...USER, capabilities: ALL_CAPABILITIES })),
    ).toEqual([])
  })
})

describe('/tmp', () => {
  it('is empty and new where a workspace lies below it: no command has written what that is mounted on', () => {
    const mounts = ['--ro-bind / /', '--tmpfs /tmp', `--bind ${TEMP} ${TEMP}`, '--ro-bind /tmp/ws /tmp/ws']
    expect(mountsOf(bwrapProfile(readOnly('/tmp/ws'), USER))).toEqual(mounts)
    expect(mountsOf(bwrapProfile(policy('/tmp/ws'), USER))).toEqual([...mounts, '--bind /tmp/ws /tmp/ws'])
    expect(bwrapView(policy('/tmp/ws'))).toEqual({
      tempDir: TEMP,
      scratch: ['/tmp'],
      maskedRoots: ['/tmp', '/dev', '/proc'],
      visibleRoots: ['/tmp/ws'],
    })
  })

  it('is so too where another root or private state lies below it', () => {
    const writable = [rootAt('/srv/ws'), rootAt('/tmp/cache')]
    expect(bwrapView(policy('/srv/ws', { writable }))).toMatchObject({ tempDir: TEMP, scratch: ['/tmp'] })
    const temp = '/tmp/state/sessions/tmp-1'
    expect(bwrapView(policy('/srv/ws', { temp }))).toMatchObject({ tempDir: temp, scratch: ['/tmp'] })
  })

  it("is the host's when the workspace is /tmp; the temp keeps its own name", () => {
    expect(binds(bwrapProfile(policy('/tmp'), USER))).toEqual([
      '--ro-bind / /',
      `--bind ${TEMP} ${TEMP}`,
      '--bind /tmp /tmp',
    ])
    expect(bwrapView(policy('/tmp'))).toEqual({
      tempDir: TEMP,
      scratch: [],
      maskedRoots: ['/dev', '/proc'],
      visibleRoots: [],
    })
  })

  it('is not opened by a read-only workspace of /tmp', () => {
    expect(binds(bwrapProfile(readOnly('/tmp'), USER))).toEqual(['--ro-bind / /', `--bind ${TEMP} ${TEMP}`])
  })

  it("is the host's under tmp 'host', and the private temp is not mounted", () => {
    const host = readOnly('/srv/ws', { tmp: 'host', writable: [rootAt('/tmp')] })
    expect(binds(bwrapProfile(host, USER))).toEqual(['--ro-bind / /', '--bind /tmp /tmp'])
    expect(bwrapView(host)).toEqual({
      tempDir: '/tmp',
      scratch: [],
      maskedRoots: ['/dev', '/proc'],
      visibleRoots: [],
    })
  })

  it('a root whose name begins with /tmp is another', () => {
    expect(bwrapView(policy('/tmpfiles')).maskedRoots).toEqual(['/tmp', '/dev', '/proc'])
    expect(bwrapView(policy('/tmpfiles')).visibleRoots).toEqual([])
  })
})

describe('the argv', () => {
  const command = ['bash', '-c', 'echo "$0"']
  const grants = (roots: readonly string[]) => [
    ...['--ro', '/'],
    ...roots.flatMap((path) => ['--rw-pinned', '5:7', path]),
    ...['--rw', '/tmp', '--rw', '/dev', '--dev', '/dev'],
  ]

  it('is front launcher, bubblewrap, inner launcher, command', () => {
    const backend = bwrapBackend(BWRAP, LAUNCHER, USER)
    expect(backend.wrap(command, policy('/srv/ws'), { statusFd: 3 })).toEqual([
      ...[LAUNCHER.path, '--passive', '--ignore-signals', '--status-fd', '3', '--'],
      ...[BWRAP, ...bwrapProfile(policy('/srv/ws'), USER), '--'],
      ...[LAUNCHER.path, ...INNER, '--status-fd', '3', ...grants(['/srv/ws']), '--'],
      ...command,
    ])
    expect(backend).toMatchObject({
      runners: [BWRAP, LAUNCHER.path],
      reportsStatus: true,
    })
  })

  it('names no descriptor when none was offered', () => {
    expect(bwrapBackend(BWRAP, LAUNCHER, USER).wrap(command, policy('/srv/ws'), undefined)).not.toContain(
      '--status-fd',
    )
  })

  it('keeps SETPCAP for the inner launcher of root alone, which empties the bounding set with it', () => {
    const added = (host: HostFacts, launcher: Launcher | undefined) =>
      bwrapBackend(BWRAP, launcher, host).wrap(command, policy('/srv/ws'), undefined).includes('CAP_SETPCAP')
    expect(added(ROOT, LAUNCHER)).toBe(true)
    expect(added(ROOT, undefined)).toBe(false)
    expect(added({ ...ROOT, capabilities: 0n }, LAUNCHER)).toBe(false)
    expect(added(USER, LAUNCHER)).toBe(false)
  })

  it('cuts mounts off from the host where that costs nothing, or where no Landlock closes what arrives', () => {
    const cutOff = (host: HostFacts, landlockAbi: number | undefined) => {
      const argv = bwrapBackend(BWRAP, { ...LAUNCHER, landlockAbi }, { ...host, mountsPropagate: true })
      return argv
        .wrap(command, policy('/srv/ws'), undefined)
        .slice(0, argv.runners.length + 2)
        .includes('--private-mounts')
    }
    expect([ROOT, USER].map((host) => [7, 3, 2, undefined].map((abi) => cutOff(host, abi)))).toEqual([
      [true, true, true, true],
      [false, false, true, true],
    ])
    expect(bwrapBackend(BWRAP, LAUNCHER, ROOT).wrap(command, policy('/srv/ws'), undefined)).not.toContain(
      '--private-mounts',
    )
  })

  it('is partial without a launcher: late mounts and standard streams stay doors', () => {
    expect(
      [LAUNCHER, undefined].map(
        (launcher) => bwrapBackend(BWRAP, launcher, USER).statements['read-only'].enforcement,
      ),
    ).toEqual(['full', 'partial'])
  })

  it('mounts over every knob only where no Landlock closes /proc', () => {
    const host = { ...ROOT, kernelKnobs: ['/proc/sys', '/proc/irq', '/proc/fs'] }
    const covered = (launcher: Launcher | undefined) =>
      binds(bwrapBackend(BWRAP, launcher, host).wrap(command, policy('/srv/ws'), undefined)).filter((bind) =>
        bind.startsWith('--ro-bind-try'),
      )
    const all = [
      '--ro-bind-try /proc/sys /proc/sys',
      '--ro-bind-try /proc/irq /proc/irq',
      '--ro-bind-try /proc/fs /proc/fs',
    ]
    expect(covered(LAUNCHER)).toEqual(all.slice(0, 1))
    expect(covered({ ...LAUNCHER, landlockAbi: undefined })).toEqual(all)
    expect(covered(undefined)).toEqual(all)
  })

  it('drops the Landlock rules, not the launcher, on a kernel without Landlock', () => {
    const argv = bwrapBackend(BWRAP, { ...LAUNCHER, landlockAbi: undefined }, USER).wrap(
      command,
      policy('/srv/ws'),
      undefined,
    )
    expect(argv.slice(argv.lastIndexOf(LAUNCHER.path))).toEqual([
      LAUNCHER.path,
      ...INNER,
      '--no-landlock',
      '--',
      ...command,
    ])
  })

  it('is full only with Landlock underneath: no mount keeps a command from a pipe outside', () => {
    const enforcement = (launcher: Launcher | undefined) =>
      bwrapBackend(BWRAP, launcher, USER).statements['read-only'].enforcement
    expect(enforcement({ ...LAUNCHER, landlockAbi: 1 })).toBe('full')
    expect(enforcement({ ...LAUNCHER, landlockAbi: undefined })).toBe('partial')
    expect(enforcement(undefined)).toBe('partial')
  })

  it('without a launcher, a privileged bash closes descriptors and becomes the command', () => {
    const backend = bwrapBackend(BWRAP, undefined, USER)
    const argv = backend.wrap(command, policy('/srv/ws'), { statusFd: 3 })
    expect(argv[0]).toBe(BWRAP)
    const inner = argv.slice(argv.indexOf('--') + 1)
    expect(inner.slice(0, 3)).toEqual(['/bin/bash', '-p', '-c'])
    expect(inner.slice(4)).toEqual(['bash', ...command])
    expect(backend).toMatchObject({ runners: [BWRAP], reportsStatus: false })
  })

  it('shows a launcher that lies below /tmp again', () => {
    const hidden: Launcher = { path: '/tmp/state/bin/launcher', landlockAbi: 7 }
    const argv = bwrapBackend(BWRAP, hidden, USER).wrap(command, policy('/srv/ws'), undefined)
    const profile = argv.slice(argv.indexOf(BWRAP), argv.lastIndexOf(hidden.path))
    expect(binds(profile).at(-1)).toBe(`--ro-bind ${hidden.path} ${hidden.path}`)
    const hostTemp = policy('/srv/ws', { tmp: 'host', writable: [rootAt('/srv/ws'), rootAt('/tmp')] })
    expect(bwrapBackend(BWRAP, hidden, USER).wrap(command, hostTemp, undefined)).not.toContain(
      '--ro-bind-try',
    )
  })

  it('a workspace that looks like an option or holds a newline is one word', () => {
    const odd = '/srv/--bind / x\ny'
    expect(binds(bwrapProfile(policy(odd), USER)).at(-1)).toBe(`--bind ${odd} ${odd}`)
  })
})
