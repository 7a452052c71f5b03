/** The one question a verdict asks the disk. */

import { accessSync, constants, existsSync } from 'node:fs'
import { dirname } from 'node:path'

/** True when this process may write `path`, or make it below its nearest existing ancestor. */
export function couldWrite(path: string): boolean {
  let existing = path
  while (!existsSync(existing) && existing !== dirname(existing)) existing = dirname(existing)
  try {
    accessSync(existing, constants.W_OK)
    return true
  } catch {
    // EACCES or EROFS: this process could not have written it either.
    return false
  }
}
