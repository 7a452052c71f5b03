/** Whether this process can open more descriptors. The only way to know is to open them. */

import { closeSync, openSync } from 'node:fs'
import { devNull } from 'node:os'

/** The error (EMFILE, ENFILE) that opening `count` descriptors now fails with; undefined when it does not. */
export function shortageOf(count: number): NodeJS.ErrnoException | undefined {
  const held: number[] = []
  try {
    while (held.length < count) held.push(openSync(devNull, 'r'))
    return undefined
  } catch (error) {
    // openSync throws errno errors only.
    return error as NodeJS.ErrnoException
  } finally {
    for (const fd of held) closeSync(fd)
  }
}
