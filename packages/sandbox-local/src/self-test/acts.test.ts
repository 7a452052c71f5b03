import { mkdtempSync, rmSync } from 'node:fs'
import { expect, it } from 'vitest'
import { fileAttempts, forbiddenAttempts, outsideAttempts, ownAttempts, type Targets } from './acts.ts'

const TARGETS: Targets = {
  victim: 1,
  neighbour: 1,
  file: '/file',
  socket: '/socket',
  abstractSocket: 'name',
  tcpPort: 1,
  udpPort: 1,
  device: '/dev/fuse',
}

/** What an effect is taken to be: a word counts as proved by these, so none may go unseen. */
const FILE_ACTS = [
  'write: write',
  'create: create',
  'create: mkdir',
  'create: symlink',
  'create: link',
  'remove: unlink',
  'remove: rmdir',
  'rename: rename',
  'truncate: truncate',
  'truncate: open-truncate',
  'metadata: chmod',
  'metadata: utimes',
  'special-files: mkfifo',
  'special-files: mksocket',
]
const OTHER_ACTS = [
  'metadata: chown',
  'metadata: setxattr',
  'device-ioctl: ioctl',
  'signal-host: signal',
  'ptrace-host: trace',
  'process-visibility: see',
  'unix-pathname: connect-path',
  'unix-abstract: connect-abstract',
  'tcp: tcp',
  'udp: udp',
  'read: read',
]

it("each effect is tried by all of its acts, outside and on one's own", () => {
  const folder = mkdtempSync('/var/tmp/dsh-acts-test-')
  try {
    const named = (attempts: ReturnType<typeof ownAttempts>) =>
      attempts.map(({ effect, act }) => `${effect}: ${act}`)
    expect(named(fileAttempts(folder, folder))).toEqual(FILE_ACTS)
    expect(named(forbiddenAttempts(folder, folder))).toEqual(['special-files: whiteout'])
    expect(named(ownAttempts(folder))).toEqual(OTHER_ACTS)
    expect(named(outsideAttempts(TARGETS))).toEqual(OTHER_ACTS)
    const bare = { ...TARGETS, device: undefined, socket: undefined }
    expect(named(outsideAttempts(bare))).toEqual(OTHER_ACTS.filter((one) => !/ioctl|connect-path/.test(one)))
  } finally {
    rmSync(folder, { recursive: true })
  }
})
