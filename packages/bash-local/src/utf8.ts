/** Where bytes may be cut without parting a UTF-8 character. Pure. Source: RFC 3629, section 3. */

const isContinuation = (byte: number | undefined) => byte !== undefined && (byte & 0xc0) === 0x80

/** Bytes of the sequence that `lead` opens; 1 for anything that opens none. */
function sequenceLength(lead: number): number {
  if (lead >= 0xc2 && lead <= 0xdf) return 2
  if (lead >= 0xe0 && lead <= 0xef) return 3
  if (lead >= 0xf0 && lead <= 0xf4) return 4
  return 1
}

/** Bytes at the front, three at most, that belong to a character whose first byte was dropped. */
export function orphanedBytes(bytes: Buffer): number {
  let count = 0
  while (count < 3 && isContinuation(bytes[count])) count += 1
  return count
}

/** Bytes at the end, three at most, that open a character which the next bytes may complete. */
export function unfinishedBytes(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back]
    if (byte === undefined) return 0
    if (!isContinuation(byte)) return sequenceLength(byte) > back ? back : 0
  }
  return 0
}
