/**
 * Makes native/prebuilds: the launcher and the addon for x64 and arm64, glibc and musl.
 *
 *     node native/prebuild.mjs [--target NAME]... [--check]
 *
 * Without --target all of them. --check builds nothing and looks at what there is. Prints one table, then what is wrong;
 * exits 1 when anything is, or when a file that can be built was not.
 *
 * Needs what `npm run build` makes and, from Debian, binutils, make, python3, `g++` and `g++-aarch64-linux-gnu` (of the two,
 * the cross compiler is the one for the other machine). musl comes from Debian's package `musl-dev` for either machine,
 * which is fetched with apt-get and unpacked below build/, so that nothing is installed. None of this is needed by
 * an install.
 *
 * Each target is built in a copy of the sources below build/prebuild, by the same binding.gyp as a build of one's own.
 */
import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { checked } from './prebuild-checks.mjs'
import { ARTEFACTS, TARGETS } from './prebuild-targets.mjs'

const root = join(dirname(fileURLToPath(import.meta.url)), '..')
const prebuilds = join(root, 'native', 'prebuilds')
const scratch = join(root, 'build', 'prebuild')
const workspace = createRequire(join(root, 'package.json'))

/** Thrown where a target cannot be built; the message goes into the table. */
class NotBuilt extends Error {}

/** Runs a program to its end; what it says is shown only when it fails. */
function run(cwd, program, args, env = {}) {
  const result = spawnSync(program, args, {
    cwd,
    encoding: 'utf8',
    env: { ...process.env, ...env },
    maxBuffer: 64 << 20,
  })
  if (result.status === 0) return
  process.stderr.write(`${result.stdout ?? ''}${result.stderr ?? ''}`)
  throw new NotBuilt(`${program} ${args[0]} ended with ${result.error?.code ?? `status ${result.status}`}`)
}

/** An apt of its own that knows one other machine. Lists and packages are trusted as the system's are. */
function aptOptions(place, debian) {
  for (const folder of ['state/lists/partial', 'cache/archives/partial'])
    mkdirSync(join(place, folder), { recursive: true })
  writeFileSync(join(place, 'status'), '')
  const settings = {
    'APT::Architecture': debian,
    'APT::Architectures': debian,
    'APT::Sandbox::User': 'root',
    'Dir::State': join(place, 'state'),
    'Dir::State::status': join(place, 'status'),
    'Dir::Cache': join(place, 'cache'),
  }
  return Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])
}

/** The folder with musl for a machine, fetched when it is not there. */
function muslFolder({ debian, musl }) {
  const place = join(scratch, `musl-${debian}`)
  const folder = join(place, 'root', 'usr')
  if (existsSync(join(folder, 'lib', musl, 'libc.a'))) return folder
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  const options = aptOptions(place, debian)
  run(place, 'apt-get', ['-qq', ...options, 'update'])
  run(place, 'apt-get', ['-qq', ...options, 'download', 'musl-dev'])
  const [debFile] = readdirSync(place).filter((name) => name.endsWith('.deb'))
  if (debFile === undefined) throw new NotBuilt(`apt-get brought no musl-dev for ${debian}`)
  run(place, 'dpkg-deb', ['-x', debFile, 'root'])
  return folder
}

/** A folder with the kernel's headers and no C library's beside them. */
function kernelHeaders(place, { gnu }) {
  const cross = join('/usr', gnu, 'include')
  const common = existsSync(join(cross, 'linux')) ? cross : '/usr/include'
  const machine = common === cross ? cross : join('/usr/include', gnu)
  const folder = join(place, 'kernel')
  mkdirSync(folder, { recursive: true })
  symlinkSync(join(common, 'linux'), join(folder, 'linux'))
  symlinkSync(join(common, 'asm-generic'), join(folder, 'asm-generic'))
  symlinkSync(join(machine, 'asm'), join(folder, 'asm'))
  return folder
}

/**
 * Has Debian's compiler for glibc use musl: other headers, start files and libraries, and a static position-independent
 * program whatever it is asked for. Source: gcc(1), "Spec Files"; which start files, musl's rcrt1.o for -static-pie.
 */
function muslSpecs(place, machine) {
  const usr = muslFolder(machine)
  const lib = join(usr, 'lib', machine.musl)
  const headers = `-nostdinc -isystem ${join(usr, 'include', machine.musl)} -isystem ${kernelHeaders(place, machine)} -isystem include%s`
  const specs = {
    cpp_options: `${headers} %(old_cpp_options)`,
    cc1: `%(cc1_cpu) ${headers}`,
    cc1plus: `%(cc1_cpu) ${headers}`,
    link_libgcc: `-L${lib} -L .%s`,
    libgcc: 'libgcc.a%s',
    startfile: `${lib}/rcrt1.o ${lib}/crti.o crtbeginS.o%s`,
    endfile: `crtendS.o%s ${lib}/crtn.o`,
    link: '-nostdlib -static -pie --no-dynamic-linker -z text -z noexecstack',
  }
  const path = join(place, 'musl.specs')
  const sections = Object.entries(specs).map(([name, value]) => `*${name}:\n${value}\n`)
  writeFileSync(path, `%rename cpp_options old_cpp_options\n\n${sections.join('\n')}`)
  return path
}

/** Commands for C and C++. With musl the driver for C compiles both: that for C++ would link a C++ library for glibc. */
function compilers(place, { machine, libc }) {
  const [cc, cxx] = [`${machine.gnu}-gcc`, `${machine.gnu}-g++`]
  if (spawnSync(cxx, ['--version']).status !== 0) throw new NotBuilt(`no ${cxx}`)
  if (libc === 'glibc') return { CC: cc, CXX: cxx }
  const withMusl = `${cc} -specs=${muslSpecs(place, machine)}`
  return { CC: withMusl, CXX: withMusl }
}

function copySources(place) {
  copyFileSync(join(root, 'binding.gyp'), join(place, 'binding.gyp'))
  for (const folder of ['src', 'test'])
    cpSync(join(root, 'native', folder), join(place, 'native', folder), {
      recursive: true,
      filter: (path) => !path.endsWith('.ts'),
    })
}

/** Headers that came with this Node, so that nothing is downloaded. */
function headerArguments() {
  const prefix = join(dirname(process.execPath), '..')
  return existsSync(join(prefix, 'include/node/node_api.h')) ? [`--nodedir=${prefix}`] : []
}

/** Names of the files that a target has. */
function filesOf(target) {
  return Object.keys(ARTEFACTS).filter((file) => target.without?.[file] === undefined)
}

function build(name, target) {
  const place = join(scratch, name)
  rmSync(place, { recursive: true, force: true })
  mkdirSync(place, { recursive: true })
  copySources(place)
  const env = compilers(place, target)
  const gyp = workspace.resolve('node-gyp/bin/node-gyp.js')
  const options = [
    `--arch=${target.machine.arch}`,
    `--devdir=${join(scratch, 'node-gyp')}`,
    ...headerArguments(),
  ]
  const addonApi = dirname(workspace.resolve('node-addon-api/package.json'))
  const variables = ['-Dprogram_link=-static-pie', `-Dnode_addon_api=${addonApi}`]
  run(place, process.execPath, [gyp, 'configure', ...options, '--', ...variables], env)
  const wanted = filesOf(target).map((file) => ARTEFACTS[file])
  run(place, process.execPath, [gyp, 'build', ...wanted, '--jobs=2', ...options], env)
  deliver(name, target, join(place, 'build', 'Release'))
}

/** Replaces a target's folder as a whole, so that nothing of an earlier build stays in it. */
function deliver(name, target, release) {
  const folder = join(prebuilds, name)
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  for (const file of filesOf(target)) {
    copyFileSync(join(release, file), join(folder, file))
    chmodSync(join(folder, file), 0o755)
  }
}

/** Rows of the table for one target. A file that cannot be built is a row without a fault. */
function rowsOf(name, target) {
  const present = filesOf(target).map((file) => {
    const path = join(prebuilds, name, file)
    return existsSync(path)
      ? checked(path, file, target)
      : { file, bytes: '-', needs: '-', faults: ['it was not built'] }
  })
  const absent = Object.entries(target.without ?? {}).map(([file, why]) => ({
    file,
    bytes: '-',
    needs: `not built: ${why}`,
    faults: [],
  }))
  return [...present, ...absent].map((row) => ({ target: name, ...row }))
}

function show(table) {
  const columns = ['target', 'file', 'bytes', 'needs']
  const lines = [Object.fromEntries(columns.map((column) => [column, column])), ...table]
  const widths = columns.map((column) => Math.max(...lines.map((line) => `${line[column]}`.length)))
  for (const line of lines)
    console.log(
      columns
        .map((column, index) => `${line[column]}`.padEnd(widths[index]))
        .join('  ')
        .trimEnd(),
    )
  for (const { target, file, faults } of table)
    for (const fault of faults) console.error(`${target}/${file}: ${fault}`)
}

function targetsNamed(names) {
  const unknown = names.find((name) => !(name in TARGETS))
  if (unknown !== undefined)
    throw new TypeError(`no target ${unknown}; there are ${Object.keys(TARGETS).join(', ')}`)
  return names.map((name) => [name, TARGETS[name]])
}

function tryToBuild(name, target) {
  try {
    build(name, target)
  } catch (error) {
    if (!(error instanceof NotBuilt)) throw error
    rmSync(join(prebuilds, name), { recursive: true, force: true })
    console.error(`${name}: not built: ${error.message}`)
  }
}

const { values } = parseArgs({
  options: {
    target: { type: 'string', multiple: true, default: Object.keys(TARGETS) },
    check: { type: 'boolean', default: false },
  },
})
const wanted = targetsNamed(values.target)
if (!values.check) for (const [name, target] of wanted) tryToBuild(name, target)
const table = wanted.flatMap(([name, target]) => rowsOf(name, target))
show(table)
process.exitCode = table.some(({ faults }) => faults.length > 0) ? 1 : 0
