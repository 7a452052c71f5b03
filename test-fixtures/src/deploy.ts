/**
 * Copies a workspace package and everything it needs at run time into one folder that any user can read, as an install
 * would lay it out. In: the package's folder. Out: a plain `node_modules`, without links back to the checkout.
 */

import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { dirname, join, sep } from 'node:path'

interface Manifest {
  readonly name: string
  readonly version: string
  readonly files?: readonly string[]
  readonly dependencies?: Readonly<Record<string, string>>
}

/** Needed by the suites, not by the program that is deployed. */
const NOT_DEPLOYED: readonly string[] = ['vitest']

/** Built into the checkout's own folder, beside the package; an install has it among the package's prebuilds. */
const LAUNCHER = {
  package: 'dsh-landlock',
  built: '../build/Release/landlock-run',
  installed: 'prebuilds',
} as const

export interface Deployment {
  /** Where the deployed package lies. */
  readonly packageFolder: string
  remove(): void
}

/** What an install brings: everything, or all but the launcher, as where nothing could be built. */
export type Extent = 'whole' | 'without-launcher'

/** Deploys the package in `folder` below /var/tmp. */
export function deploy(folder: string, extent: Extent): Deployment {
  const scratch = mkdtempSync('/var/tmp/dsh-deploy-')
  chmodSync(scratch, 0o755)
  const { name } = manifestIn(folder)
  const packageFolder = place(
    realpathSync(folder),
    join(scratch, 'node_modules'),
    join(scratch, 'node_modules', name),
  )
  if (extent === 'without-launcher') removeLaunchers(join(scratch, 'node_modules'))
  return { packageFolder, remove: () => rmSync(scratch, { recursive: true, force: true }) }
}

function manifestIn(folder: string): Manifest {
  // The shape of package.json is npm's; a missing member reads as undefined.
  return JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as Manifest
}

/** Copies the package in `source` to `target`, then its dependencies to `top`, or below `target` on a conflict. */
function place(source: string, top: string, target: string): string {
  copyPackage(source, target)
  const dependencies = Object.keys(manifestIn(source).dependencies ?? {})
  for (const name of dependencies.filter((one) => !NOT_DEPLOYED.includes(one))) {
    const from = dependencyFolder(source, name)
    const shared = join(top, name)
    if (!existsSync(shared)) place(from, top, shared)
    else if (manifestIn(shared).version !== manifestIn(from).version)
      place(from, top, join(target, 'node_modules', name))
  }
  return target
}

/** Where Node would find `name` for a module in `folder`. */
function dependencyFolder(folder: string, name: string): string {
  const candidate = join(folder, 'node_modules', name)
  if (existsSync(candidate)) return realpathSync(candidate)
  if (dirname(folder) === folder) throw new Error(`dependency ${name} is not installed`)
  return dependencyFolder(dirname(folder), name)
}

function isInstalled(folder: string): boolean {
  return folder.split(sep).includes('node_modules')
}

function copyPackage(source: string, target: string): void {
  mkdirSync(target, { recursive: true })
  const entries = isInstalled(source) ? ['.'] : publishedEntries(source)
  for (const entry of entries) {
    const filter = (path: string): boolean => !path.slice(source.length).split(sep).includes('node_modules')
    cpSync(join(source, entry), join(target, entry), { recursive: true, dereference: true, filter })
  }
  copyLauncher(source, target)
}

/** What the package says it publishes, as far as it is there. */
function publishedEntries(source: string): readonly string[] {
  return ['package.json', ...(manifestIn(source).files ?? [])].filter((entry) =>
    existsSync(join(source, entry)),
  )
}

/** They lie where an install has them, in the one package that brings them. */
function removeLaunchers(top: string): void {
  rmSync(join(top, LAUNCHER.package, LAUNCHER.installed), { recursive: true, force: true })
}

function copyLauncher(source: string, target: string): void {
  const built = join(source, LAUNCHER.built)
  if (manifestIn(source).name !== LAUNCHER.package || !existsSync(built)) return
  cpSync(built, join(target, LAUNCHER.installed, `${process.platform}-${process.arch}`, 'landlock-run'))
}
