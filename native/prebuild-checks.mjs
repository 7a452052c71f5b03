/**
 * Holds a prebuilt file to what it must be. In: a path, and its target. Out: facts for the table, and what is wrong as
 * sentences. Reads with the loader's own reader, so that what passes here is what the loader takes, and with readelf.
 */
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { MACHINES, readElf } from './dist/elf.js'
import { ADDON, CEILINGS } from './prebuild-targets.mjs'

function readelf(path, ...options) {
  const { status, stdout, error } = spawnSync('readelf', ['--wide', ...options, path], {
    encoding: 'utf8',
    env: { ...process.env, LC_ALL: 'C' },
  })
  if (status !== 0) throw new Error(`readelf does not read ${path}: ${error?.message ?? `status ${status}`}`)
  return stdout
}

/** `{ file, bytes, needs, faults }`; `needs` is what the file asks of the system, in words. */
export function checked(path, file, target) {
  const bytes = readFileSync(path)
  const reading = readElf(bytes)
  if (reading.fault) return { file, bytes: bytes.length, needs: '-', faults: [reading.fault] }
  const { elf } = reading
  const own = file === 'landlock-run' ? programFaults(elf) : addonFaults(path, elf)
  const faults = [...sizeFaults(bytes.length, file, target), ...commonFaults(path, elf, target), ...own]
  return { file, bytes: bytes.length, needs: needs(path, elf), faults }
}

function sizeFaults(size, file, { machine, libc }) {
  const ceiling = CEILINGS[machine.arch][libc][file]
  return size > ceiling ? [`it has ${size} bytes, more than ${ceiling}`] : []
}

/** What holds for both files: the machine, and the protections that a linker gives. */
function commonFaults(path, elf, { machine }) {
  const segments = readelf(path, '--program-headers')
  const stack = /^\s*GNU_STACK\s.*\s([RWE ]{3})\s+0x\w+$/m.exec(segments)?.[1]
  const writableCode = /^\s*LOAD\s.*\sRWE\s/m.test(segments)
  return [
    ...(elf.machine === MACHINES[machine.arch] ? [] : [`it is for machine ${elf.machine}`]),
    ...(elf.searchPaths.length === 0 ? [] : [`it looks for libraries in ${elf.searchPaths.join(':')}`]),
    ...(elf.type === 3 ? [] : ['it is not position-independent']),
    ...(stack === undefined || stack.includes('E') ? ['its stack is executable'] : []),
    ...(writableCode ? ['a segment is writable and executable'] : []),
    ...(/^\s*GNU_RELRO\s/m.test(segments) ? [] : ['it has no RELRO']),
    ...(/\(FLAGS(?:_1)?\).*\bNOW\b/.test(readelf(path, '--dynamic')) ? [] : ['it binds lazily']),
  ]
}

function programFaults({ interpreter, needed }) {
  return [
    ...(interpreter === undefined ? [] : [`it is not static: it starts with ${interpreter}`]),
    ...(needed.length === 0 ? [] : [`it is not static: it needs ${needed.join(', ')}`]),
  ]
}

function addonFaults(path, { needed }) {
  const strange = needed.filter((name) => !ADDON.libraries.includes(name))
  const tooNew = highestVersions(path).filter(({ name, numbers }) => isAbove(numbers, ADDON.versions[name]))
  const exported = exports(path)
  const surplus = exported.filter((name) => !ADDON.exports.includes(name))
  const lacking = ADDON.exports.filter((name) => !exported.includes(name))
  return [
    ...strange.map((name) => `it needs ${name}`),
    ...tooNew.map(({ name, numbers }) => `it needs ${name}_${numbers.join('.')}`),
    ...surplus.map((name) => `it exports ${name}`),
    ...lacking.map((name) => `it does not export ${name}`),
  ]
}

/** Names that the file gives to whoever loads it. */
function exports(path) {
  return readelf(path, '--dyn-syms')
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .filter(([, , , , bind, , section]) => /^(?:GLOBAL|WEAK)$/.test(bind) && section !== 'UND')
    .map((fields) => fields[7])
}

/** The newest version of each family of symbols that the file asks for. */
function highestVersions(path) {
  const highest = new Map()
  for (const [, name, text] of readelf(path, '--version-info').matchAll(/Name: (\w+?)_([\d.]+)\s/g)) {
    const numbers = text.split('.').map(Number)
    if (!highest.has(name) || isAbove(numbers, highest.get(name))) highest.set(name, numbers)
  }
  return [...highest].map(([name, numbers]) => ({ name, numbers }))
}

/** A family without a ceiling allows nothing. */
function isAbove(numbers, ceiling = []) {
  const differing = numbers.findIndex((number, index) => number !== (ceiling[index] ?? 0))
  return differing !== -1 && numbers[differing] > (ceiling[differing] ?? 0)
}

function needs(path, { needed }) {
  if (needed.length === 0) return 'nothing'
  return [
    ...needed,
    ...highestVersions(path).map(({ name, numbers }) => `${name}_${numbers.join('.')}`),
  ].join(' ')
}
