import { describe, expect, it } from 'vitest'
import type { BashDenial } from 'dsh-bash'
import type { EndedCommand } from 'dsh-bash-local'
import { findDenial, type DenialFacts } from './denial.ts'

const EROFS = 'Read-only file system'
const EACCES = 'Permission denied'
const DIALECTS = {
  bwrap: ['read-only file system', 'permission denied'],
  landlock: ['permission denied'],
} as const
const WRITABLE = { 'read-only': ['/tmp'], 'workspace-write': ['/tmp', '/srv/ws'] } as const
type Mode = keyof typeof WRITABLE
type Dialect = keyof typeof DIALECTS

/** What an ordinary user could write without a sandbox. */
const OURS = ['/srv', '/home/me', '/tmp', '/var/tmp']

function facts(dialect: Dialect, mode: Mode): DenialFacts {
  return {
    workdir: '/srv/ws',
    confined: {
      argv: ['/usr/bin/runner'],
      enforcement: 'full',
      denialSignatures: DIALECTS[dialect],
      runnerFailureRules: [],
      writableRoots: WRITABLE[mode],
      maskedRoots: ['/tmp'],
      visibleRoots: WRITABLE[mode],
      tempDir: '/tmp',
    },
    couldWrite: (path) => OURS.some((root) => path === root || path.startsWith(`${root}/`)),
    physicalPath: (path) => path,
  }
}

function ended(stderr: string, exitCode: number | null = 1): EndedCommand {
  return {
    exitCode,
    signal: null,
    timedOut: false,
    aborted: false,
    killed: false,
    timeoutMs: 1000,
    statusText: undefined,
    leftover: undefined,
    stdout: { text: '', truncated: false },
    stderr: { text: stderr, truncated: false },
  }
}

const denial = (
  stderr: string,
  dialect: Dialect,
  mode: Mode,
  exitCode?: number | null,
): BashDenial | undefined => findDenial(ended(stderr, exitCode), facts(dialect, mode))

/** Lines of real programs, `{E}` where the error's words stand; the path that a closed one names. */
const OUTSIDE: readonly (readonly [line: string, path: string])[] = [
  ['bash: line 1: /srv/other/x: {E}', '/srv/other/x'],
  ['bash: /srv/other/x: {E}', '/srv/other/x'],
  ['/srv/ws/build.sh: line 12: /home/me/.cache/tool/log: {E}', '/home/me/.cache/tool/log'],
  ['bash: line 3: /home/me/with blank/x: {E}', '/home/me/with blank/x'],
  ['bash: line 1: ../other/x: {E}', '/srv/other/x'],
  ['sh: 1: cannot create /srv/other/x: {E}', '/srv/other/x'],
  ["touch: cannot touch '/srv/other/x': {E}", '/srv/other/x'],
  ['mkdir: cannot create directory ‘/srv/other/d’: {E}', '/srv/other/d'],
  ["rm: cannot remove '/srv/other/x': {E}", '/srv/other/x'],
  ["rmdir: failed to remove '/srv/other/d': {E}", '/srv/other/d'],
  ["cp: cannot create regular file '/srv/other/x': {E}", '/srv/other/x'],
  ["mv: cannot move '/srv/other/a' to '/srv/other/b': {E}", '/srv/other/a'],
  ["ln: failed to create symbolic link '/srv/other/l': {E}", '/srv/other/l'],
  ["dd: failed to open '/srv/other/x': {E}", '/srv/other/x'],
  ["chmod: changing permissions of '/srv/other/x': {E}", '/srv/other/x'],
  ["truncate: cannot open '/srv/other/x' for writing: {E}", '/srv/other/x'],
  ["mktemp: failed to create file via template '/home/me/tmp.XXXXXXXXXX': {E}", '/home/me/tmp.XXXXXXXXXX'],
  ['find: cannot delete ‘/srv/other/x’: {E}', '/srv/other/x'],
  ['tee: /srv/other/x: {E}', '/srv/other/x'],
  ['gzip: /srv/other/x.gz: {E}', '/srv/other/x.gz'],
  ["sed: couldn't open temporary file /srv/other/sedAb12: {E}", '/srv/other/sedAb12'],
  ["fatal: could not create work tree dir '/srv/other/repo': {E}", '/srv/other/repo'],
  ['error: could not lock config file /home/me/.gitconfig: {E}', '/home/me/.gitconfig'],
  ["OSError: [Errno 30] {E}: '/srv/other/x'", '/srv/other/x'],
  [
    "ERROR: Could not install packages due to an OSError: [Errno 13] {E}: '/home/me/.local/lib'",
    '/home/me/.local/lib',
  ],
  ["Error: EACCES: {e}, open '/srv/other/x'", '/srv/other/x'],
  ["Error: EACCES: {e}, mkdir '/srv/other/d'", '/srv/other/d'],
  ["npm error Error: EACCES: {e}, mkdir '/home/me/.npm/_cacache'", '/home/me/.npm/_cacache'],
  ["npm error  [Error: EACCES: {e}, open '/home/me/.npm/_logs/x'] {", '/home/me/.npm/_logs/x'],
  [
    `error An unexpected error occurred: "EACCES: {e}, mkdir '/srv/other/node_modules'".`,
    '/srv/other/node_modules',
  ],
  ['open /srv/other/x: {e}', '/srv/other/x'],
  ['go: could not create module cache: mkdir /home/me/go: {e}', '/home/me/go'],
  ['cat: /srv/other/x: {E} (os error 13)', '/srv/other/x'],
  ['/usr/bin/ld: cannot open output file /srv/other/a.out: {E}', '/srv/other/a.out'],
  ['java.io.FileNotFoundException: /srv/other/x ({E})', '/srv/other/x'],
]

/** The same about files of the workspace. */
const INSIDE: readonly (readonly [line: string, path: string])[] = [
  ['bash: line 1: notes.txt: {E}', '/srv/ws/notes.txt'],
  ['bash: line 1: ./a/b: {E}', '/srv/ws/a/b'],
  ['dash: 1: cannot create ./out.txt: {E}', '/srv/ws/out.txt'],
  ["touch: cannot touch 'x': {E}", '/srv/ws/x'],
  ["fatal: Unable to create '/srv/ws/.git/index.lock': {E}", '/srv/ws/.git/index.lock'],
  ['error: could not lock config file .git/config: {E}', '/srv/ws/.git/config'],
  ["error: cannot open '.git/FETCH_HEAD': {E}", '/srv/ws/.git/FETCH_HEAD'],
  ['error: unable to create file src/a.txt: {E}', '/srv/ws/src/a.txt'],
  ["PermissionError: [Errno 13] {E}: 'build/out'", '/srv/ws/build/out'],
  ["sed: couldn't open temporary file ./sedAb12: {E}", '/srv/ws/sedAb12'],
]

/** Lines that say the words about something else. */
const OTHER = [
  'cat: /etc/shadow: {E}',
  "ls: cannot open directory '/root': {E}",
  'find: ‘/root’: {E}',
  'git@github.com: {E} (publickey).',
  'me@host: {E} (publickey,password).',
  '{E}, please try again.',
  'scp: /data/remote/x: {E}',
  'sudo: unable to open /run/sudo/ts/me: {E}',
  'mount: /mnt: {e}.',
  '{e} while trying to connect to the Docker daemon socket at unix:///var/run/docker.sock: Get "http://x/v1": dial unix /var/run/docker.sock: connect: {e}',
  'ERROR:  {e} for table accounts',
  'rsync: [receiver] mkstemp "/srv/other/.x.Ab" failed: {E} (13)',
  'Error: Os { code: 13, kind: PermissionDenied, message: "{E}" }',
  'my log: the words {E} appear in the middle of a sentence',
  'expected {E} but got nothing',
] as const

/** Lines with the words and no file: telling for a read-only mount, and for nothing else. */
const NO_PATH = [
  'ssh: connect to host h port 22: {E}',
  'psql: error: could not connect to server: {E}',
  'nc: bind: {E}',
  'ping: socket: {E}',
  "curl: (7) Couldn't open socket: {E}",
  'Caused by: {E} (os error 13)',
  '  {E} (os error 13)',
  'tar: Cannot open: {E}',
  '{E}',
] as const

const spell = (line: string, words: string) =>
  line.replaceAll('{E}', words).replaceAll('{e}', words.toLowerCase())

const SPOKEN: readonly (readonly [Dialect, string])[] = [
  ['bwrap', EROFS],
  ['bwrap', EACCES],
  ['landlock', EACCES],
]
const MODES = ['read-only', 'workspace-write'] as const

describe.each(SPOKEN)('%s, "%s"', (dialect, words) => {
  it.each(OUTSIDE)('%s', (line, path) => {
    for (const mode of MODES) {
      expect(denial(spell(line, words), dialect, mode)).toMatchObject({
        path,
        source: 'stderr',
        confidence: 'high',
      })
    }
  })

  it.each(INSIDE)('%s', (line, path) => {
    expect(denial(spell(line, words), dialect, 'read-only')).toMatchObject({ path, confidence: 'high' })
    expect(denial(spell(line, words), dialect, 'workspace-write')).toBeUndefined()
  })

  it.each(OTHER)('none: %s', (line) => {
    for (const mode of MODES) expect(denial(spell(line, words), dialect, mode)).toBeUndefined()
  })

  it.each(NO_PATH)('no path: %s', (line) => {
    const expected = words === EROFS ? { source: 'stderr', confidence: 'low' } : undefined
    for (const mode of MODES) expect(denial(spell(line, words), dialect, mode)).toEqual(expected)
  })
})

describe('words of another backend', () => {
  it.each(OUTSIDE)('say nothing under Landlock: %s', (line) => {
    expect(denial(spell(line, EROFS), 'landlock', 'read-only')).toBeUndefined()
    expect(denial(spell(line, 'Operation not permitted'), 'bwrap', 'read-only')).toBeUndefined()
  })
})

describe('how it ended', () => {
  const line = 'touch: cannot touch /srv/other/x: Permission denied'

  it.each([0, 126, 127, 129, 137, 143, 192])('with %s it is never a denial', (exitCode) => {
    expect(denial(line, 'bwrap', 'read-only', exitCode)).toBeUndefined()
  })

  it('nor after a signal', () => {
    expect(denial(line, 'bwrap', 'read-only', null)).toBeUndefined()
  })

  it.each([1, 2, 43, 125, 128, 193, 255])('with %s it is', (exitCode) => {
    expect(denial(line, 'bwrap', 'read-only', exitCode)?.path).toBe('/srv/other/x')
  })
})

describe('what is told', () => {
  it('the operation, where the line says it', () => {
    expect(
      denial("touch: cannot touch '/srv/other/x': Permission denied", 'bwrap', 'read-only')?.operation,
    ).toBe('touch')
    expect(
      denial("Error: EROFS: read-only file system, mkdir '/srv/other/d'", 'bwrap', 'read-only')?.operation,
    ).toBe('mkdir')
    expect(denial('bash: line 1: /srv/other/x: Permission denied', 'bwrap', 'read-only')).not.toHaveProperty(
      'operation',
    )
  })

  it('the way out of a closed temp', () => {
    expect(denial('bash: line 1: /var/tmp/x: Read-only file system', 'bwrap', 'read-only')).toEqual({
      path: '/var/tmp/x',
      source: 'stderr',
      confidence: 'high',
      advice: 'write to $TMPDIR, which is private to this session and writable in every mode',
    })
  })

  it("no way out by the temp where that is the host's own", () => {
    const { confined, ...rest } = facts('landlock', 'read-only')
    const hostTemp = { ...rest, confined: { ...confined, maskedRoots: [] } }
    expect(findDenial(ended(`bash: line 1: /var/tmp/x: ${EACCES}`), hostTemp)).toEqual({
      path: '/var/tmp/x',
      source: 'stderr',
      confidence: 'high',
    })
  })

  it('the first closed path, behind open ones and noise', () => {
    const stderr = [
      'compiling…',
      'bash: line 1: /tmp/x: Permission denied',
      '',
      'bash: line 2: /srv/a: Permission denied',
      'bash: line 3: /srv/b: Permission denied',
    ]
    expect(denial(stderr.join('\n'), 'bwrap', 'workspace-write')?.path).toBe('/srv/a')
  })

  it('a path outranks words alone, wherever it stands', () => {
    const stderr = 'Read-only file system\nbash: line 2: /srv/a: Read-only file system'
    expect(denial(stderr, 'bwrap', 'read-only')).toMatchObject({ path: '/srv/a', confidence: 'high' })
  })

  it('is looked for in so many paths and no more: what is printed cannot hold up the harness', () => {
    let asked = 0
    const counting = {
      ...facts('bwrap', 'workspace-write'),
      physicalPath: (path: string) => ((asked += 1), path),
    }
    const opened = Array.from({ length: 5_000 }, (_, at) => `bash: line 1: ./x${at}: Permission denied`)
    expect(
      findDenial(ended([...opened, 'bash: line 1: /srv/a: Permission denied'].join('\n')), counting),
    ).toBeUndefined()
    expect(asked).toBe(200)
    asked = 0
    const oneLine = `tool: ${Array.from({ length: 5_000 }, (_, at) => `'x${at}'`).join(' ')}: Permission denied`
    expect(findDenial(ended(oneLine), counting)).toBeUndefined()
    expect(asked).toBe(200)
  })

  it('`..` and doubled slashes are resolved before a root is asked', () => {
    expect(
      denial('bash: line 1: /srv/ws/../other/x: Permission denied', 'bwrap', 'workspace-write')?.path,
    ).toBe('/srv/other/x')
    expect(
      denial('bash: line 1: /srv//ws/./x: Permission denied', 'bwrap', 'workspace-write'),
    ).toBeUndefined()
  })

  it('a sibling whose name begins like the root is outside', () => {
    expect(denial('bash: line 1: /srv/ws2/x: Permission denied', 'bwrap', 'workspace-write')?.path).toBe(
      '/srv/ws2/x',
    )
  })

  it('from a provider that names no roots, every writable path counts', () => {
    const { workdir, couldWrite, physicalPath } = facts('bwrap', 'read-only')
    const confined = {
      argv: ['/r'],
      enforcement: 'full',
      denialSignatures: ['read-only file system'],
      runnerFailureRules: [],
    } as const
    const found = findDenial(ended('bash: line 1: /srv/ws/x: Read-only file system'), {
      workdir,
      couldWrite,
      physicalPath,
      confined,
    })
    expect(found?.path).toBe('/srv/ws/x')
  })
})
