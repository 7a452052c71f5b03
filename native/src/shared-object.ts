/**
 * Whether a shared object is there as a whole. The dynamic loader does not ask: it maps what the header promises, and a
 * file that was cut off (a download, a full disk) ends the process by SIGBUS at the first touch past its end.
 */

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

/** Where the fields of a 64-bit ELF header lie, in bytes. Source: elf(5), Elf64_Ehdr. */
const HEADER = {
  size: 64,
  magic: 0x7f454c46,
  is64: 4,
  isLittle: 5,
  tableAt: 40,
  entrySize: 58,
  entries: 60,
} as const

/** How long the file says it is: its section table comes last. 0 for a header of another kind, which says nothing. */
function promisedSize(header: Buffer): number {
  if (header.readUInt32BE(0) !== HEADER.magic || header[HEADER.is64] !== 2 || header[HEADER.isLittle] !== 1)
    return 0
  const table = Number(header.readBigUInt64LE(HEADER.tableAt))
  return table + header.readUInt16LE(HEADER.entrySize) * header.readUInt16LE(HEADER.entries)
}

/**
 * True for a file that is shorter than its own header says. False proves nothing more, also for what is no such file at
 * all: the loader tells those. Throws as open(2) and read(2) do.
 */
export function isCutOff(path: string): boolean {
  const fd = openSync(path, 'r')
  try {
    const header = Buffer.alloc(HEADER.size)
    if (readSync(fd, header, 0, HEADER.size, 0) < HEADER.size) return false
    return fstatSync(fd).size < promisedSize(header)
  } finally {
    closeSync(fd)
  }
}
