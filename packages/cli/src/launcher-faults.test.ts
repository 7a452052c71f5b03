/**
 * What the doctor says of launchers that are not there, damaged, of another machine or of no use, and of kernels that
 * give no Landlock: real files and real refusals, and the command as a real process from a copy of what `npm run build`
 * makes.
 */

import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'

const ROOT = realpathSync(fileURLToPath(new URL('../../..', import.meta.url)))
const BUILT = join(ROOT, 'build', 'Release')
const hasLauncher =
  process.env['DSH_REQUIRE_BACKENDS'] !== undefined || existsSync(join(BUILT, 'landlock-run'))

interface Diagnosed {
  readonly text: string
  readonly status: number | null
  /** The row of `doctor --json` for Landlock. */
  readonly landlock: { readonly usable: boolean; readonly failure?: Record<string, string> }
}

let copy: string
beforeAll(() => {
  copy = deploy()
}, 60_000)
afterAll(() => rmSync(copy, { recursive: true, force: true }))
beforeEach(({ skip }) => {
  skip(!hasLauncher, 'needs the launcher, which is not here')
  for (const folder of ['build', 'native/prebuilds'])
    rmSync(join(copy, folder), { recursive: true, force: true })
})

/** The packages as built, elsewhere, with no launcher: what lies there is up to each test. */
function deploy(): string {
  const target = realpathSync(mkdtempSync('/var/tmp/dsh-doctor-'))
  chmodSync(target, 0o755)
  for (const part of ['packages', 'profiles', 'native'])
    cpSync(join(ROOT, part), join(target, part), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (path) => !/\/(?:src|test|prebuilds)$/.test(path),
    })
  symlinkSync(join(ROOT, 'node_modules'), join(target, 'node_modules'))
  return target
}

const fresh = () => join(copy, 'build', 'Release', 'landlock-run')
const prebuilt = () => join(copy, 'native', 'prebuilds', `linux-${process.arch}`, 'landlock-run')

function put(path: string): string {
  mkdirSync(dirname(path), { recursive: true })
  copyFileSync(join(BUILT, 'landlock-run'), path)
  chmodSync(path, 0o755)
  return path
}

/** A PATH on which there is no bubblewrap, so that Landlock is all there is, and the run is short. */
function pathWithoutBwrap(): string {
  const bin = join(copy, 'bin')
  rmSync(bin, { recursive: true, force: true })
  mkdirSync(bin)
  for (const tool of ['bash', 'sh', 'env', 'cat', 'ls'])
    symlinkSync(realpathSync(`/usr/bin/${tool}`), join(bin, tool))
  return bin
}

function doctor(argv: readonly string[], prefix: readonly string[], path: string) {
  const main = join(copy, 'packages', 'cli', 'bin', 'dsh-sandbox.js')
  const [program = '', ...args] = [...prefix, process.execPath, main, 'doctor', ...argv]
  const { status, stdout, stderr } = spawnSync(program, args, { encoding: 'utf8', env: { PATH: path } })
  expect(stderr).toBe('')
  return { status, stdout }
}

function diagnose(prefix: readonly string[] = []): Diagnosed {
  const path = pathWithoutBwrap()
  const told = doctor([], prefix, path)
  const { backends } = JSON.parse(doctor(['--json'], prefix, path).stdout)
  return {
    text: told.stdout,
    status: told.status,
    landlock: backends.find((one: { backend: string }) => one.backend === 'landlock'),
  }
}

const fixOf = (text: string) => /^landlock: .*\n {2}fix: (.*)$/m.exec(text)?.[1]
const lineOf = (text: string) => /^landlock: (.*)$/m.exec(text)?.[1]

it('a whole launcher works from either place, so that the refusals below mean something', () => {
  for (const path of [fresh(), prebuilt()]) {
    put(path)
    expect(diagnose()).toMatchObject({ status: 0, landlock: { usable: true, path } })
    rmSync(path)
  }
})

it('missing: every place is named', () => {
  const { text, status, landlock } = diagnose()
  expect(landlock.failure).toMatchObject({ step: 'find', fault: 'launcher-missing' })
  expect(lineOf(text)).toMatch(/^find: landlock-run is missing; looked at /)
  for (const place of [fresh(), prebuilt(), prebuilt().replace(/(linux-\w+)/, '$1-musl')])
    expect(text).toContain(place)
  expect(fixOf(text)).toMatch(/node native\/build\.mjs/)
  expect(status).toBe(1)
})

/** Each makes the whole launcher at `path` into one of no use. */
const DAMAGES: readonly (readonly [
  what: string,
  damage: (path: string) => void,
  fault: string,
  words: RegExp,
])[] = [
  ['empty', (path) => writeFileSync(path, ''), 'launcher-damaged', /it is empty/],
  ['cut to its half', (path) => cut(path, 0.5), 'launcher-damaged', /should reach to byte \d+/],
  ['cut by its last byte', cutOne, 'launcher-damaged', /the section headers should reach to byte/],
  ['cut within its header', (path) => cut(path, 0.00005), 'launcher-damaged', /ends within the ELF header/],
  [
    'a bit of its magic changed',
    (path) => flip(path, 1),
    'launcher-damaged',
    /does not begin as an ELF file/,
  ],
  ['of 32 bits', (path) => set(path, 4, 1), 'launcher-damaged', /not a 64-bit ELF file/],
  ['a directory', becomeDirectory, 'launcher-damaged', /not a regular file/],
  ['a link to nothing', becomeDangling, 'launcher-damaged', /cannot be read \(ENOENT\)/],
  ['of another processor', otherMachine, 'launcher-architecture', /it is for \w+, and this is \w+/],
  ['of a missing C library', withoutLinker, 'launcher-libc', /it needs \/lib\S+, which is not here/],
  [
    'of mode 000',
    (path) => chmodSync(path, 0),
    'launcher-forbidden',
    /may not read or execute it \(EACCES\)/,
  ],
  ['not executable', (path) => chmodSync(path, 0o644), 'launcher-forbidden', /may not read or execute it/],
]

function cut(path: string, share: number): void {
  const bytes = readFileSync(path)
  writeFileSync(path, bytes.subarray(0, Math.floor(bytes.length * share)))
}
function cutOne(path: string): void {
  writeFileSync(path, readFileSync(path).subarray(0, -1))
}
function set(path: string, offset: number, value: number): void {
  const bytes = readFileSync(path)
  bytes[offset] = value
  writeFileSync(path, bytes)
}
function flip(path: string, offset: number): void {
  set(path, offset, (readFileSync(path)[offset] ?? 0) ^ 1)
}
function becomeDirectory(path: string): void {
  rmSync(path)
  mkdirSync(path)
}
function becomeDangling(path: string): void {
  rmSync(path)
  symlinkSync('/nonexistent/landlock-run', path)
}
function otherMachine(path: string): void {
  const machine = process.arch === 'arm64' ? 62 : 183
  set(path, 18, machine)
}
/** Only a dynamic program names a linker; `true` of this machine is one. */
function withoutLinker(path: string): void {
  const bytes = readFileSync('/usr/bin/true')
  const name = bytes.indexOf('/lib')
  bytes.write('/libX', name, 'latin1')
  writeFileSync(path, bytes)
}

describe.each(DAMAGES)('%s', (_what, damage, fault, words) => {
  it('a fresh build is told, with what mends it, and no prebuild takes its place unseen', () => {
    put(prebuilt())
    damage(put(fresh()))
    const { text, status, landlock } = diagnose()
    expect(landlock).toMatchObject({ usable: false, failure: { step: 'file', fault } })
    expect(lineOf(text)).toMatch(/^file: /)
    expect(lineOf(text)).toContain(`${fresh()}: `)
    expect(lineOf(text)).toMatch(words)
    expect(fixOf(text)).toMatch(fault === 'launcher-forbidden' ? /let this user/ : /node native\/build\.mjs/)
    expect(status).toBe(1)
  })
})

it('a damaged prebuild is mended by installing anew', () => {
  cut(put(prebuilt()), 0.5)
  const { text, landlock } = diagnose()
  expect(landlock.failure).toMatchObject({ step: 'file', fault: 'launcher-damaged' })
  expect(fixOf(text)).toBe('install the package anew')
})

it('one that starts and does something else is none', () => {
  put(fresh())
  copyFileSync('/usr/bin/false', fresh())
  const { text, landlock } = diagnose()
  expect(landlock.failure).toMatchObject({ step: 'start', fault: 'launcher-fails' })
  expect(lineOf(text)).toContain(`${fresh()} --probe: Command failed with exit code 1`)
})

it.each([
  [38, 'landlock-absent', /CONFIG_SECURITY_LANDLOCK/],
  [95, 'landlock-off', /lsm= kernel parameter/],
  [1, 'landlock-barred', /seccomp profile/],
  [22, 'landlock-refused', /landlock\(7\)/],
])('a kernel that answers errno %i', (errno, fault, fix) => {
  put(fresh())
  const { text, status, landlock } = diagnose([
    join(BUILT, 'fault-run'),
    '--landlock-errno',
    `${errno}`,
    '--',
  ])
  expect(landlock).toMatchObject({ usable: false, failure: { step: 'ruleset', fault } })
  expect(fixOf(text)).toMatch(fix)
  expect(status).toBe(1)
})
