/**
 * Builds the native programs at install time, into build/Release.
 *
 * Never fails an install: where something is missing, one line says what that costs. DSH_NATIVE=required turns that
 * into exit status 1 and shows the compiler's words; DSH_NATIVE=skip builds nothing. The full output of a build is in
 * build/native.log. Writes nowhere but build/ (and a temporary directory), so HOME need not be writable.
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
const log = join(build, 'native.log')
const stamp = join(release, 'native.sources')

const PROGRAMS = ['landlock-run', 'fault-run']
/** Where sources lie, and how their names end. */
const SOURCES = { '.': ['binding.gyp'], native: ['.mjs'], 'native/src': ['.cc', '.h'], 'native/test': ['.c'] }

/** Thrown where a build cannot go on; the message is what the one line says. */
class NotBuilt extends Error {}

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
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\0`)
  for (const file of sourceFiles()) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(join(root, file)))
      .update('\0')
  }
  return hash.digest('hex')
}

function isFresh(hash) {
  if (!existsSync(stamp) || readFileSync(stamp, 'utf8') !== hash) return false
  return PROGRAMS.every((program) => existsSync(join(release, program)))
}

function findNodeGyp() {
  try {
    return createRequire(join(root, 'package.json')).resolve('node-gyp/bin/node-gyp.js')
  } catch (cause) {
    throw new NotBuilt('node-gyp is not installed', { cause })
  }
}

/** Headers that came with this Node, so that nothing is downloaded. */
function headerArguments() {
  const prefix = join(dirname(process.execPath), '..')
  const given = process.env.npm_config_nodedir
  return !given && existsSync(join(prefix, 'include/node/node_api.h')) ? [`--nodedir=${prefix}`] : []
}

/** Removes what an older source left, and only that: a launcher that does not match its sources is worse than none. */
function removeStale() {
  for (const name of [...PROGRAMS, 'native.sources', 'obj.target', '.deps']) {
    rmSync(join(release, name), { recursive: true, force: true })
  }
}

function prepareFolder() {
  try {
    mkdirSync(release, { recursive: true })
    removeStale()
  } catch (cause) {
    throw new NotBuilt(`cannot write to ${build} (${cause.code})`, { cause })
  }
}

/** Runs one node-gyp command to its end; what it says goes to the log. */
function nodeGyp(toolchain, args) {
  const result = spawnSync(process.execPath, [findNodeGyp(), ...args], {
    cwd: root,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    env: { ...process.env, CC: toolchain.cc, CXX: toolchain.cxx, MAKE: toolchain.make },
  })
  appendFileSync(log, `${result.stdout ?? ''}${result.stderr ?? ''}`)
  if (result.status === 0) return
  if (process.env.DSH_NATIVE === 'required') process.stderr.write(readFileSync(log))
  const how = result.error?.code ?? result.signal ?? `status ${result.status}`
  throw new NotBuilt(`node-gyp ${args[0]} ended with ${how}, see build/native.log`)
}

function compile() {
  const toolchain = findToolchain()
  if (toolchain.missing) throw new NotBuilt(toolchain.missing)
  const place = [`--devdir=${join(build, 'node-gyp')}`, `--python=${toolchain.python}`, ...headerArguments()]
  rmSync(log, { force: true })
  nodeGyp(toolchain, ['configure', ...place, '--', `-Dprogram_link=${programLinkFlag(toolchain.cxx)}`])
  nodeGyp(toolchain, ['build', '--jobs=2', ...place])
}

function buildPrograms() {
  if (process.platform !== 'linux') return
  const hash = sourcesHash()
  if (isFresh(hash)) return
  if (process.env.DSH_NATIVE === 'skip') throw new NotBuilt('DSH_NATIVE=skip')
  prepareFolder()
  compile()
  writeFileSync(stamp, hash)
}

try {
  buildPrograms()
} catch (error) {
  // Anything unforeseen is as little a reason to fail an install as a missing compiler.
  const why = error instanceof NotBuilt ? error.message : String(error)
  console.error(
    `[native] not built: ${why}; Landlock and the launcher are unavailable, bubblewrap still works`,
  )
  if (process.env.DSH_NATIVE === 'required') process.exitCode = 1
}
