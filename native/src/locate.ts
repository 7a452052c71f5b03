/** Finds the launcher. Looks at fixed places beside this file; no environment variable and no PATH take part. */

import { accessSync, constants, statSync } from 'node:fs'
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
