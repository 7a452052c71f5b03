/** Looks at copies of the built package, each in a folder of its own. Needs what `npm run build` makes. */

import {
  chmodSync,
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { locateLauncher, parseProbe } from './index.ts'
import { IDENTITIES, run, type Identity } from '../test/bench.ts'
import { BUILT, skipWithout } from '../test/needs.ts'

const NATIVE = join(import.meta.dirname, '..')
/** A dynamic program of this machine, which like an addon names the C library it was linked with. */
const DYNAMIC = '/usr/bin/true'
const FOLDER = `linux-${process.arch}`

let scratch: string
beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-locate-'))
  chmodSync(scratch, 0o755)
})
afterEach(() => rmSync(scratch, { recursive: true, force: true }))

/** The package as built, without anything native. */
function packageAt(...parts: readonly string[]): string {
  const folder = join(scratch, ...parts)
  mkdirSync(folder, { recursive: true })
  copyFileSync(join(NATIVE, 'package.json'), join(folder, 'package.json'))
  cpSync(join(NATIVE, 'dist'), join(folder, 'dist'), { recursive: true })
  return folder
}

function put(source: string, ...parts: readonly string[]): string {
  const path = join(...parts)
  mkdirSync(dirname(path), { recursive: true })
  copyFileSync(source, path)
  chmodSync(path, 0o755)
  return path
}

/** What the package in `folder` answers in a process of its own, as JSON. */
function ask(
  folder: string,
  what: 'locateLauncher' | 'locateAddon',
  identity?: Identity,
  before = '',
): unknown {
  const module = pathToFileURL(join(folder, 'dist', 'index.js')).href
  const script = `${before}; const { ${what} } = await import(${JSON.stringify(module)}); console.log(JSON.stringify(${what}()))`
  const { stdout, stderr } = run([process.execPath, '--input-type=module', '-e', script], {
    ...(identity === undefined ? {} : { identity }),
  })
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

/** Makes a process seem to run on musl: the report has no glibc then. */
const ON_MUSL =
  'process.report.getReport = ((real) => () => { const r = real(); delete r.header.glibcVersionRuntime; return r })(process.report.getReport.bind(process.report))'

const locations = (what: 'launcher' | 'addon') => (what === 'launcher' ? 'locateLauncher' : 'locateAddon')

describe('locateLauncher', () => {
  it('finds what was built here, and it answers', ({ skip }) => {
    skipWithout(skip, 'the launcher')
    const path = join(BUILT, 'landlock-run')
    expect(locateLauncher()).toEqual({ path })
    expect(parseProbe(run([path, '--probe']).stdout)).toEqual({
      abi: expect.any(Number),
      errata: expect.any(Number),
    })
  })

  it('prefers a fresh build, then the prebuild of the own C library, then that of the other', ({ skip }) => {
    skipWithout(skip, 'the launcher')
    const native = packageAt('native')
    const launcher = join(BUILT, 'landlock-run')
    const all = [
      put(launcher, scratch, 'build', 'Release', 'landlock-run'),
      put(launcher, native, 'prebuilds', FOLDER, 'landlock-run'),
      put(launcher, native, 'prebuilds', `${FOLDER}-musl`, 'landlock-run'),
    ]
    const [built, glibc, musl] = all
    expect(ask(native, 'locateLauncher')).toEqual({ path: built })
    rmSync(String(built))
    expect(ask(native, 'locateLauncher')).toEqual({ path: glibc })
    expect(ask(native, 'locateLauncher', undefined, ON_MUSL)).toEqual({ path: musl })
    rmSync(String(glibc))
    expect(ask(native, 'locateLauncher')).toEqual({ path: musl })
    rmSync(String(musl))
    expect(ask(native, 'locateLauncher')).toEqual({
      missing: `landlock-run is missing; looked at ${all.join(' and ')}`,
      fix: expect.stringContaining('node native/build.mjs'),
    })
  })

  it('takes nothing from a package that is called build', ({ skip }) => {
    skipWithout(skip, 'the launcher')
    const installed = packageAt('node_modules', 'dsh-landlock')
    put(join(BUILT, 'landlock-run'), scratch, 'node_modules', 'build', 'Release', 'landlock-run')
    expect(ask(installed, 'locateLauncher')).toEqual({
      missing: expect.not.stringContaining('Release'),
      fix: 'install the package anew, with its prebuilds',
    })
    const path = put(join(BUILT, 'landlock-run'), installed, 'prebuilds', FOLDER, 'landlock-run')
    expect(ask(installed, 'locateLauncher')).toEqual({ path })
  })
})

describe.each(IDENTITIES)('as $name', (identity) => {
  it.each(['launcher', 'addon'] as const)('a %s of mode 000 is there, and forbidden', (what) => {
    const native = packageAt('native')
    const file = what === 'launcher' ? 'landlock-run' : 'landlock.node'
    const at = put(DYNAMIC, native, 'prebuilds', FOLDER, file)
    expect(ask(native, locations(what), identity)).toEqual({ path: at })
    chmodSync(at, 0)
    // No mode keeps root from reading, and an addon need not be executable.
    const usable = what === 'addon' && identity.uid === 0
    expect(ask(native, locations(what), identity)).toEqual(
      usable ? { path: at } : expect.objectContaining({ unusable: 'forbidden', at }),
    )
  })

  it('what lies in a closed folder is no less there', () => {
    const native = packageAt('native')
    const at = put(DYNAMIC, scratch, 'build', 'Release', 'landlock-run')
    put(DYNAMIC, native, 'prebuilds', FOLDER, 'landlock-run')
    chmodSync(dirname(at), 0)
    expect(ask(native, 'locateLauncher', identity)).toEqual(
      identity.uid === 0 ? { path: at } : expect.objectContaining({ unusable: 'forbidden', at }),
    )
    chmodSync(dirname(at), 0o755)
  })
})

describe('locateAddon', () => {
  it('takes one of the own C library only', () => {
    const native = packageAt('native')
    const glibc = put(DYNAMIC, native, 'prebuilds', FOLDER, 'landlock.node')
    const musl = put(DYNAMIC, native, 'prebuilds', `${FOLDER}-musl`, 'landlock.node')
    writeFileSync(musl, linkedWithMusl())
    expect(ask(native, 'locateAddon')).toEqual({ path: glibc })
    expect(ask(native, 'locateAddon', undefined, ON_MUSL)).toEqual({ path: musl })
    rmSync(glibc)
    expect(ask(native, 'locateAddon')).toMatchObject({ missing: expect.not.stringContaining('musl') })
  })

  it('refuses one that was put into the folder of the other', () => {
    const native = packageAt('native')
    const at = put(DYNAMIC, native, 'prebuilds', FOLDER, 'landlock.node')
    writeFileSync(at, linkedWithMusl())
    expect(ask(native, 'locateAddon')).toMatchObject({
      unusable: 'libc',
      detail: `${at}: it was built for musl, and this is glibc`,
    })
  })
})

/** The dynamic program, asking for musl's library by name instead of glibc's. */
function linkedWithMusl(): Buffer {
  const bytes = readFileSync(DYNAMIC)
  bytes.write('libc.so\0\0', bytes.indexOf('libc.so.6'), 'latin1')
  return bytes
}
