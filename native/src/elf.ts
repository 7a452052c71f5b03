/**
 * What an ELF file says of itself. In: its bytes. Out: facts, or the one thing that is wrong with them. Pure.
 *
 * Only 64-bit little-endian files are read, which is what the machines in `MACHINES` run. Not promised: that the code in
 * the file is whole. Every table and segment must lie within the file, so one that was cut short is told; a changed byte
 * in the code is not.
 *
 * Source of layouts and numbers: elf(5), and <elf.h> for the machines.
 */

/** `e_machine` by Node's name of the architecture. Others are not checked. */
export const MACHINES: Readonly<Partial<Record<NodeJS.Architecture, number>>> = {
  x64: 62,
  arm64: 183,
  riscv64: 243,
  loong64: 258,
}

export const ELF_TYPE = { executable: 2, shared: 3 } as const

const HEADER_BYTES = 64
const SEGMENT = { load: 1, dynamic: 2, interpreter: 3 } as const
const DYNAMIC = { end: 0, needed: 1, stringTable: 5, stringTableBytes: 10, rpath: 15, runpath: 29 } as const

/** One entry of the program header table. Sizes and places in bytes. */
interface Segment {
  readonly type: number
  readonly offset: number
  readonly address: number
  readonly fileBytes: number
}

export interface ElfFile {
  readonly machine: number
  /** A value of `ELF_TYPE`, or another. */
  readonly type: number
  /** The dynamic linker it asks for; undefined when it needs none. */
  readonly interpreter: string | undefined
  /** Shared libraries it asks for, by name. */
  readonly needed: readonly string[]
  /** Where else it would have them looked for (RPATH and RUNPATH). */
  readonly searchPaths: readonly string[]
}

export type ElfReading = { readonly elf: ElfFile } | { readonly fault: string }

/** Thrown inside this file only. */
class Malformed extends Error {}

/** Never throws for any bytes. */
export function readElf(bytes: Buffer): ElfReading {
  try {
    return { elf: parse(bytes) }
  } catch (error) {
    if (error instanceof Malformed) return { fault: error.message }
    throw error
  }
}

function parse(bytes: Buffer): ElfFile {
  checkIdentity(bytes)
  const segments = segmentsOf(bytes)
  checkSections(bytes)
  const entries = dynamicEntries(bytes, segments)
  const strings = (tag: number) => namesOf(bytes, segments, entries, tag)
  return {
    type: bytes.readUInt16LE(16),
    machine: bytes.readUInt16LE(18),
    interpreter: interpreterOf(bytes, segments),
    needed: strings(DYNAMIC.needed),
    searchPaths: [...strings(DYNAMIC.rpath), ...strings(DYNAMIC.runpath)],
  }
}

function checkIdentity(bytes: Buffer): void {
  if (bytes.length === 0) throw new Malformed('it is empty')
  if (bytes.length < HEADER_BYTES) throw new Malformed('it ends within the ELF header')
  if (bytes.toString('latin1', 0, 4) !== '\x7fELF') throw new Malformed('it does not begin as an ELF file')
  if (bytes[4] !== 2) throw new Malformed('it is not a 64-bit ELF file')
  if (bytes[5] !== 1) throw new Malformed('it is not a little-endian ELF file')
}

/** A part of the file; what would reach past its end is the fault that `what` names. */
function within(bytes: Buffer, what: string, offset: number, size: number): Buffer {
  if (offset + size > bytes.length)
    throw new Malformed(`${what} should reach to byte ${offset + size}, and it has ${bytes.length}`)
  return bytes.subarray(offset, offset + size)
}

/** Beyond 2^53 a number is rounded, and then still far past the end of any file. */
const word = (bytes: Buffer, offset: number) => Number(bytes.readBigUInt64LE(offset))

function segmentsOf(bytes: Buffer): readonly Segment[] {
  const entryBytes = bytes.readUInt16LE(54)
  const count = bytes.readUInt16LE(56)
  if (count === 0 || entryBytes !== 56) throw new Malformed('it has no program headers')
  const table = within(bytes, 'the program headers', word(bytes, 32), count * entryBytes)
  return Array.from({ length: count }, (_, index) =>
    segmentIn(bytes, table.subarray(index * entryBytes, (index + 1) * entryBytes)),
  )
}

function segmentIn(bytes: Buffer, entry: Buffer): Segment {
  const segment = {
    type: entry.readUInt32LE(0),
    offset: word(entry, 8),
    address: word(entry, 16),
    fileBytes: word(entry, 32),
  }
  within(bytes, 'a segment', segment.offset, segment.fileBytes)
  return segment
}

/** The table of sections is the last thing that linkers write, so a file that was cut by a little lacks it. */
function checkSections(bytes: Buffer): void {
  within(bytes, 'the section headers', word(bytes, 40), bytes.readUInt16LE(58) * bytes.readUInt16LE(60))
}

function interpreterOf(bytes: Buffer, segments: readonly Segment[]): string | undefined {
  const segment = segments.find(({ type }) => type === SEGMENT.interpreter)
  if (segment === undefined) return undefined
  return text(bytes.subarray(segment.offset, segment.offset + segment.fileBytes))
}

/** Up to the NUL. */
function text(bytes: Buffer): string {
  const end = bytes.indexOf(0)
  return bytes.toString('latin1', 0, end === -1 ? bytes.length : end)
}

interface DynamicEntry {
  readonly tag: number
  readonly value: number
}

function dynamicEntries(bytes: Buffer, segments: readonly Segment[]): readonly DynamicEntry[] {
  const segment = segments.find(({ type }) => type === SEGMENT.dynamic)
  if (segment === undefined) return []
  const table = bytes.subarray(segment.offset, segment.offset + segment.fileBytes)
  const all = Array.from({ length: Math.floor(table.length / 16) }, (_, index) => ({
    tag: word(table, index * 16),
    value: word(table, index * 16 + 8),
  }))
  const end = all.findIndex(({ tag }) => tag === DYNAMIC.end)
  return end === -1 ? all : all.slice(0, end)
}

function namesOf(
  bytes: Buffer,
  segments: readonly Segment[],
  entries: readonly DynamicEntry[],
  tag: number,
): readonly string[] {
  const places = entries.filter((entry) => entry.tag === tag).map(({ value }) => value)
  if (places.length === 0) return []
  const table = stringTable(bytes, segments, entries)
  return places.map((place) => {
    within(table, 'a name', place, 1)
    return text(table.subarray(place))
  })
}

/** The dynamic section gives addresses, a loaded segment the place in the file behind an address. */
function stringTable(bytes: Buffer, segments: readonly Segment[], entries: readonly DynamicEntry[]): Buffer {
  const valueOf = (tag: number) => entries.find((entry) => entry.tag === tag)?.value ?? 0
  const address = valueOf(DYNAMIC.stringTable)
  const segment = segments.find(
    (one) => one.type === SEGMENT.load && address >= one.address && address < one.address + one.fileBytes,
  )
  if (segment === undefined) throw new Malformed('its names lie in no segment')
  const offset = segment.offset + (address - segment.address)
  return within(bytes, 'the names', offset, valueOf(DYNAMIC.stringTableBytes))
}
