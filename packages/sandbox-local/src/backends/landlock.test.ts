import { describe, expect, it } from 'vitest'
import type { GroundedPolicy } from '../grounded-policy.ts'
import { landlockBackend, landlockView } from './landlock.ts'

const TEMP = '/var/tmp/state/sessions/tmp-1'
const BACKEND = landlockBackend({ path: '/var/tmp/state/bin/launcher', landlockAbi: 7 })
const COMMAND = ['bash', '-c', 'true']
const NODES = ['null', 'zero', 'full', 'random', 'urandom', 'tty', 'ptmx', 'pts']
const DEVICES = [...NODES.flatMap((name) => ['--dev', `/dev/${name}`]), '--shm', '/dev/shm']

const SUPERVISED = [
  ...['--supervise', '--guard'],
  ...['--deny', 'limits-of-others', '--deny', 'kernel-surface', '--deny', 'device-nodes'],
]

const workspace = { path: '/srv/ws', dev: 2049n, ino: 2n ** 60n }
const readOnly: GroundedPolicy = {
  mode: 'read-only',
  workspace,
  writable: [],
  tmp: 'private',
  temp: TEMP,
  hidden: [],
}
const workspaceWrite: GroundedPolicy = { ...readOnly, mode: 'workspace-write', writable: [workspace] }

const setTemp = (path: string) =>
  [`TMPDIR=${path}`, `TMP=${path}`, `TEMP=${path}`, `TMPPREFIX=${path}/zsh`].flatMap((set) => [
    '--setenv',
    set,
  ])

describe('the argv', () => {
  it('read-only: the temp alone is writable', () => {
    expect(BACKEND.wrap(COMMAND, readOnly, undefined)).toEqual([
      '/var/tmp/state/bin/launcher',
      ...SUPERVISED,
      ...['--deny', 'metadata'],
      ...setTemp(TEMP),
      ...['--ro', '/', '--rw', TEMP],
      ...DEVICES,
      '--',
      ...COMMAND,
    ])
  })

  it('workspace-write: the root by its identity, written in full', () => {
    expect(BACKEND.wrap(COMMAND, workspaceWrite, { statusFd: 3 })).toEqual([
      '/var/tmp/state/bin/launcher',
      ...SUPERVISED,
      ...['--status-fd', '3'],
      ...setTemp(TEMP),
      ...['--ro', '/', '--rw-pinned', '2049:1152921504606846976', '/srv/ws', '--rw', TEMP],
      ...DEVICES,
      '--',
      ...COMMAND,
    ])
  })

  it("tmp 'host': /tmp is a pinned root like any, and the private temp is not granted", () => {
    const hostTemp: GroundedPolicy = {
      ...readOnly,
      tmp: 'host',
      writable: [{ path: '/tmp', dev: 1n, ino: 2n }],
    }
    const argv = BACKEND.wrap(COMMAND, hostTemp, undefined)
    expect(argv).toEqual([
      '/var/tmp/state/bin/launcher',
      ...SUPERVISED,
      ...['--deny', 'metadata'],
      ...setTemp('/tmp'),
      ...['--ro', '/', '--rw-pinned', '1:2', '/tmp'],
      ...DEVICES,
      '--',
      ...COMMAND,
    ])
  })

  it('never grants /tmp, /dev or / for writing by itself', () => {
    for (const policy of [readOnly, workspaceWrite]) {
      const argv = BACKEND.wrap(COMMAND, policy, undefined)
      expect(argv.filter((_, at) => argv[at - 1] === '--rw')).toEqual([TEMP])
    }
  })
})

it('is partial, hides nothing, and reports', () => {
  expect(BACKEND).toMatchObject({ backend: 'landlock', reportsStatus: true })
  expect(BACKEND.statements['workspace-write'].enforcement).toBe('partial')
  expect(BACKEND.runners).toEqual(['/var/tmp/state/bin/launcher'])
  expect(landlockView(workspaceWrite)).toEqual({
    tempDir: TEMP,
    scratch: [],
    shared: ['/dev/shm'],
    maskedRoots: [],
    visibleRoots: [],
  })
  expect(landlockView({ ...readOnly, tmp: 'host' }).tempDir).toBe('/tmp')
})
