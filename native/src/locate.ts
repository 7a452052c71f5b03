/**
 * Finds the launcher and the addon, and looks whether what lies there can be used at all. Looks at fixed places beside
 * this file; no environment variable and no PATH take part, and nothing is started.
 *
 * The first place that holds anything decides. A damaged fresh build is never passed over for a prebuild: whoever built
 * here expects these sources to run, and what damaged the one file should be seen.
 */

import { accessSync, constants, existsSync, lstatSync, readFileSync, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ELF_TYPE, MACHINES, readElf, type ElfFile } from './elf.ts'
import { libc, type Libc } from './libc.ts'

/** Why a file that is there cannot be used. */
export type Unusable =
  /** Empty, cut short, no ELF file, or not a file at all. */
  | 'damaged'
  /** Of another processor. */
  | 'architecture'
  /** Of another C library than this process, or one that is not installed. */
  | 'libc'
  /** This user may not read it, or it may not be executed. */
  | 'forbidden'

/** An absolute path; or that there is no file; or that there is one, and what is wrong with it. */
export type Location =
  | { readonly path: string }
  | { readonly missing: string; readonly fix: string }
  | { readonly unusable: Unusable; readonly at: string; readonly detail: string; readonly fix: string }

/** This package's folder, seen from `src/` and from `dist/` alike. */
const PACKAGE_FOLDER = dirname(dirname(fileURLToPath(import.meta.url)))

/**
 * Facts about the two files. A static launcher runs on either C library, so each may serve the other's users; an addon is
 * loaded into this process and shares its C library.
 */
const ARTEFACTS = {
  launcher: { file: 'landlock-run', mode: constants.R_OK | constants.X_OK, eitherLibc: true },
  addon: { file: 'landlock.node', mode: constants.R_OK, eitherLibc: false },
} as const

type Artefact = (typeof ARTEFACTS)[keyof typeof ARTEFACTS]

/** Suffix of a folder of prebuilds by the C library that it is for. */
const SUFFIX: Readonly<Record<Libc, string>> = { glibc: '', musl: '-musl' }

const LAUNCHER_ORDER: Readonly<Record<Libc, readonly Libc[]>> = {
  glibc: ['glibc', 'musl'],
  musl: ['musl', 'glibc'],
}

const BUILD_ANEW = 'run `node native/build.mjs` in the workspace (needs a C++ compiler, make and python3)'

interface Place {
  readonly path: string
  /** What mends a file that lies here and is of no use. */
  readonly fix: string
}

/** Where `landlock-run` lies. Never throws. */
export function locateLauncher(): Location {
  return locate(ARTEFACTS.launcher)
}

/** Where `landlock.node` lies. Never throws. It is not loaded, so what only loading can tell is not known. */
export function locateAddon(): Location {
  return locate(ARTEFACTS.addon)
}

function locate(artefact: Artefact): Location {
  if (process.platform !== 'linux')
    return {
      missing: `Landlock is a Linux feature; this is ${process.platform}`,
      fix: 'use Linux, or another backend',
    }
  const looked: string[] = []
  for (const place of places(artefact)) {
    if (isThere(place.path)) return inspected(artefact, place)
    looked.push(place.path)
  }
  return {
    missing: `${artefact.file} is missing; looked at ${looked.join(' and ')}`,
    fix: isInstalled() ? 'install the package anew, with its prebuilds' : BUILD_ANEW,
  }
}

/** What was built here, then what was shipped. Lazy, since most hosts need only the first. */
function* places({ file, eitherLibc }: Artefact): Generator<Place> {
  if (!isInstalled()) yield { path: join(dirname(PACKAGE_FOLDER), 'build', 'Release', file), fix: BUILD_ANEW }
  const own = libc()
  for (const one of eitherLibc ? LAUNCHER_ORDER[own] : [own]) {
    const folder = `${process.platform}-${process.arch}${SUFFIX[one]}`
    yield { path: join(PACKAGE_FOLDER, 'prebuilds', folder, file), fix: 'install the package anew' }
  }
}

/** Inside a node_modules the folder `build` beside this one would be somebody else's package. */
function isInstalled(): boolean {
  return basename(dirname(PACKAGE_FOLDER)) === 'node_modules'
}

/** A link to nothing is there too, and so is what cannot be looked at. */
function isThere(path: string): boolean {
  try {
    lstatSync(path)
    return true
  } catch (error) {
    return codeOf(error) !== 'ENOENT' && codeOf(error) !== 'ENOTDIR'
  }
}

function inspected(artefact: Artefact, { path, fix }: Place): Location {
  const found = fault(artefact, path)
  if (found === undefined) return { path }
  const [unusable, detail] = found
  return { unusable, at: path, detail: `${path}: ${detail}`, fix: FIXES[unusable] ?? fix }
}

/** Where building or installing anew is not the way out. */
const FIXES: Readonly<Partial<Record<Unusable, string>>> = {
  forbidden: 'let this user read and execute it, and enter the folders above it',
}

type Fault = readonly [Unusable, string]

function fault(artefact: Artefact, path: string): Fault | undefined {
  try {
    if (!statSync(path).isFile()) return ['damaged', 'it is not a regular file']
    accessSync(path, artefact.mode)
    return contentFault(artefact, readFileSync(path))
  } catch (error) {
    // What the system refuses: all of it means that the file cannot be used, and by its code, why.
    const code = codeOf(error)
    if (code === 'EACCES' || code === 'EPERM')
      return ['forbidden', `this user may not read or execute it (${code})`]
    return ['damaged', `it cannot be read (${code})`]
  }
}

function contentFault(artefact: Artefact, bytes: Buffer): Fault | undefined {
  const machine = MACHINES[process.arch]
  // Elsewhere a build of one's own is all there can be, and starting it tells.
  if (machine === undefined) return undefined
  const reading = readElf(bytes)
  if ('fault' in reading) return ['damaged', reading.fault]
  const { elf } = reading
  if (elf.machine !== machine)
    return ['architecture', `it is for ${machineName(elf.machine)}, and this is ${process.arch}`]
  if (elf.type !== ELF_TYPE.executable && elf.type !== ELF_TYPE.shared)
    return ['damaged', 'it is neither a program nor a shared object']
  return artefact.eitherLibc ? interpreterFault(elf) : libraryFault(elf)
}

function machineName(machine: number): string {
  return Object.entries(MACHINES).find(([, number]) => number === machine)?.[0] ?? `machine ${machine}`
}

/** A program that is not static is started by the dynamic linker it names. */
function interpreterFault({ interpreter }: ElfFile): Fault | undefined {
  if (interpreter === undefined || existsSync(interpreter)) return undefined
  return ['libc', `it needs ${interpreter}, which is not here`]
}

/** Which C library an addon was linked with. Source: the names that both give their shared object. */
function libraryFault({ needed }: ElfFile): Fault | undefined {
  const builtFor = needed.includes('libc.so.6')
    ? 'glibc'
    : needed.some((name) => name === 'libc.so' || name.startsWith('libc.musl-'))
      ? 'musl'
      : undefined
  if (builtFor === undefined || builtFor === libc()) return undefined
  return ['libc', `it was built for ${builtFor}, and this is ${libc()}`]
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : String(error)
}
