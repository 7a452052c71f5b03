/** Whether a working directory can be used, asked before a spawn: the spawn itself would put the fault on the program. */

import { accessSync, constants, statSync } from 'node:fs'
import { BashWorkdirError } from 'dsh-bash'

/** @throws {BashWorkdirError} missing, not a directory, or not to be entered. */
export function checkWorkdir(workdir: string): void {
  let isDirectory: boolean
  try {
    isDirectory = statSync(workdir).isDirectory()
    if (isDirectory) accessSync(workdir, constants.X_OK)
  } catch (cause) {
    // Both calls throw errno errors only.
    throw new BashWorkdirError((cause as NodeJS.ErrnoException).code ?? 'UNKNOWN', workdir, { cause })
  }
  if (!isDirectory) throw new BashWorkdirError('ENOTDIR', workdir)
}
