/** Finds the launcher and the binding. Looks at fixed places beside this file; no environment variable and no PATH take part. */

import { accessSync, constants, existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

/** An absolute path, or why there is none and what to do about it. */
export type LauncherLocation = { readonly path: string } | { readonly missing: string }

const LAUNCHER = 'landlock-run'

/** This package's folder, seen from `src/` and from `dist/` alike. */
const PACKAGE_FOLDER = dirname(dirname(fileURLToPath(import.meta.url)))

/** What was built here comes before what was shipped. */
function candidates(): readonly string[] {
  return [
    join(dirname(PACKAGE_FOLDER), 'build', 'Release', LAUNCHER),
    join(PACKAGE_FOLDER, 'prebuilds', `${process.platform}-${process.arch}`, LAUNCHER),
  ]
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK)
    return statSync(path).isFile()
  } catch {
    // Absent, unreadable or not executable: all mean "not this one", and the caller is told where we looked.
    return false
  }
}

/** Where `landlock-run` lies. Never throws. */
export function locateLauncher(): LauncherLocation {
  if (process.platform !== 'linux')
    return { missing: `Landlock is a Linux feature; this is ${process.platform}` }
  const path = candidates().find(isExecutable)
  if (path !== undefined) return { path }
  return {
    missing:
      `${LAUNCHER} is missing; looked at ${candidates().join(' and ')}: ` +
      'run `node native/build.mjs` in the workspace (needs a C++ compiler, make and python3)',
  }
}

/** An absolute path, or why there is none and what to do about it. */
export type AddonLocation = { readonly path: string } | { readonly missing: string }

const ADDON = 'landlock.node'

/** What was built here comes before what was shipped; of the latter, the one for this C library. */
function addonCandidates(): readonly string[] {
  const platform = `${process.platform}-${process.arch}`
  return [
    join(dirname(PACKAGE_FOLDER), 'build', 'Release', ADDON),
    join(PACKAGE_FOLDER, 'prebuilds', isMusl() ? `${platform}-musl` : platform, ADDON),
  ]
}

/** Which C library this process runs on, by the loader that it has mapped (`ld-musl-x86_64.so.1`). */
function isMusl(): boolean {
  try {
    return readFileSync('/proc/self/maps', 'latin1').includes('/ld-musl-')
  } catch {
    // No /proc: the file for the common library is tried, and says so if it does not load.
    return false
  }
}

/** Where `landlock.node` lies. Never throws. That it can be loaded is for whoever loads it to find out. */
export function locateAddon(): AddonLocation {
  if (process.platform !== 'linux')
    return { missing: `Landlock is a Linux feature; this is ${process.platform}` }
  const places = addonCandidates()
  const path = places.find((place) => existsSync(place))
  if (path !== undefined) return { path }
  return {
    missing:
      `${ADDON} is missing; looked at ${places.join(' and ')}: ` +
      'run `node native/build.mjs` in the workspace (needs a C++ compiler, make and python3)',
  }
}
