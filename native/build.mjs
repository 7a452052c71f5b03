/**
 * Builds the native programs, and the binding for Node, at install time into build/Release.
 *
 * The two are built one after the other, each with a stamp of its own: the programs need no more than a compiler, and
 * a binding that does not build must cost nobody the launcher. What was built is left alone while its sources
 * are the same; what was not is tried again.
 *
 * Never fails an install: where something is missing, one line says what that costs. DSH_NATIVE=required turns that
 * into exit status 1 and shows the compiler's words; DSH_NATIVE=skip builds nothing. The full output of a build is in
 * build/native.log and build/binding.log. Writes nowhere but build/ (and a temporary directory), so HOME need not be writable.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { findToolchain, programLinkFlag } from './toolchain.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const build = join(root, 'build')
const release = join(build, 'Release')

/** What is built together: the targets in binding.gyp, their files in build/Release, and what their absence costs. */
const PROGRAMS = {
  targets: ['landlock-run', 'fault-run'],
  outputs: ['landlock-run', 'fault-run'],
  stamp: 'native.sources',
  log: 'native.log',
  name: 'not built',
  cost: 'Landlock and the launcher are unavailable, bubblewrap still works',
}
const BINDING = {
  targets: ['landlock'],
  outputs: ['landlock.node'],
  stamp: 'binding.sources',
  log: 'binding.log',
  name: 'binding not built',
  cost: 'landlock.node is missing, which no sandbox needs: the launcher is not affected',
}
/** Where sources lie, and how their names end. */
const SOURCES = { '.': ['binding.gyp'], native: ['.mjs'], 'native/src': ['.cc', '.h'], 'native/test': ['.c'] }

/** Thrown where a build cannot go on; the message is what the one line says. */
class NotBuilt extends Error {}

/** Of the headers that the binding is made with; empty when they are not installed. */
function addonApiVersion() {
  const folder = addonApiFolder()
  return folder === '' ? '' : JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')).version
}

function sourceFiles() {
  return Object.entries(SOURCES).flatMap(([folder, endings]) =>
    readdirSync(join(root, folder))
      .filter((name) => endings.some((ending) => name.endsWith(ending)))
      .toSorted()
      .map((name) => join(folder, name)),
  )
}

/**
 * One hash over all that a build depends on. Times would do less: a checkout or a restored cache sets them anew, and an
 * older file that replaces a newer one would pass for built.
 */
function sourcesHash() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch} ${addonApiVersion()}\0`)
  for (const file of sourceFiles()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0')
  }
  return hash.digest('hex')
}

/** What the stamp says of a part: its sources and what came out of them, so that a damaged file is built anew. */
function stampText({ outputs }, hash) {
  const built = createHash('sha256')
  for (const output of outputs) built.update(readFileSync(join(release, output)))
  return `${hash} ${built.digest('hex')}`
}

function isFresh(part, hash) {
  try {
    return readFileSync(join(release, part.stamp), 'utf8') === stampText(part, hash)
  } catch {
    // A file that is absent, or that cannot be read: either way there is nothing to keep.
    return false
  }
}

/** A file of a package that the workspace depends on, by its name there. */
function findInPackage(file) {
  try {
    return createRequire(join(root, 'package.json')).resolve(file)
  } catch (cause) {
    throw new NotBuilt(`${file.split('/')[0]} is not installed`, { cause })
  }
}

/** For gyp, which reads binding.gyp as a whole: empty when only the programs can be built. */
function addonApiFolder() {
  try {
    return dirname(findInPackage('node-addon-api/package.json'))
  } catch {
    return ''
  }
}

/** Headers that came with this Node, so that nothing is downloaded. */
function headerArguments() {
  const prefix = join(dirname(process.execPath), '..')
  const given = process.env.npm_config_nodedir
  return !given && existsSync(join(prefix, 'include/node/node_api.h')) ? [`--nodedir=${prefix}`] : []
}

/** Removes what an older source left, and only that: a launcher that does not match its sources is worse than none. */
function removeStale(part) {
  for (const name of [...part.outputs, part.stamp, 'obj.target', '.deps']) {
    rmSync(join(release, name), { recursive: true, force: true })
  }
}

function prepareFolder(part) {
  try {
    mkdirSync(release, { recursive: true })
    removeStale(part)
    rmSync(join(build, part.log), { force: true })
  } catch (cause) {
    throw new NotBuilt(`cannot write to ${build} (${cause.code})`, { cause })
  }
}

/** Runs one node-gyp command to its end; what it says goes to the log. */
function nodeGyp(part, toolchain, args) {
  const log = join(build, part.log)
  const result = spawnSync(process.execPath, [findInPackage('node-gyp/bin/node-gyp.js'), ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    env: { ...process.env, CC: toolchain.cc, CXX: toolchain.cxx, MAKE: toolchain.make },
  })
  appendFileSync(log, `${result.stdout ?? ''}${result.stderr ?? ''}`)
  if (result.status === 0) return
  if (process.env.DSH_NATIVE === 'required') process.stderr.write(readFileSync(log))
  const how = result.error?.code ?? result.signal ?? `status ${result.status}`
  throw new NotBuilt(`node-gyp ${args[0]} ended with ${how}, see build/${part.log}`)
}

function compile(part) {
  const toolchain = findToolchain()
  if (toolchain.missing) throw new NotBuilt(toolchain.missing)
  const place = [`--devdir=${join(build, 'node-gyp')}`, `--python=${toolchain.python}`, ...headerArguments()]
  const variables = [
    `-Dprogram_link=${programLinkFlag(toolchain.cxx)}`,
    `-Dnode_addon_api=${addonApiFolder()}`,
  ]
  nodeGyp(part, toolchain, ['configure', ...place, '--', ...variables])
  nodeGyp(part, toolchain, ['build', ...part.targets, '--jobs=2', ...place])
}

function buildPart(part, hash) {
  if (isFresh(part, hash)) return
  if (process.env.DSH_NATIVE === 'skip') throw new NotBuilt('DSH_NATIVE=skip')
  prepareFolder(part)
  if (part === BINDING) findInPackage('node-addon-api/package.json')
  compile(part)
  writeFileSync(join(release, part.stamp), stampText(part, hash))
}

/** Anything unforeseen is as little a reason to fail an install as a missing compiler. */
function tryToBuild(part) {
  try {
    buildPart(part, sourcesHash())
    return true
  } catch (error) {
    const why = error instanceof NotBuilt ? error.message : String(error)
    console.error(`[native] ${part.name}: ${why}; ${part.cost}`)
    if (process.env.DSH_NATIVE === 'required') process.exitCode = 1
    return false
  }
}

function buildAll() {
  if (process.platform !== 'linux') return
  // What the programs lack, the binding lacks too: one line is enough.
  if (tryToBuild(PROGRAMS)) tryToBuild(BINDING)
}

buildAll()
