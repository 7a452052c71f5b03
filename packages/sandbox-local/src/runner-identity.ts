/** Whether a program is still the one that was probed: the same file, untouched. */

import { accessSync, constants, statSync } from 'node:fs'

/** What changes whenever a file is replaced, written, or given other modes: the change time cannot be set (inode(7)). */
export interface RunnerIdentity {
  readonly path: string
  /** Undefined: it is gone or may not be executed. */
  readonly mark: string | undefined
}

export function identifyRunner(path: string): RunnerIdentity {
  try {
    accessSync(path, constants.X_OK)
    const { dev, ino, ctimeNs } = statSync(path, { bigint: true })
    return { path, mark: `${dev}:${ino}:${ctimeNs}` }
  } catch {
    // Gone, or its modes were changed: Landlock stops neither chmod nor chown.
    return { path, mark: undefined }
  }
}

export function isUnchanged({ path, mark }: RunnerIdentity): boolean {
  return mark !== undefined && identifyRunner(path).mark === mark
}
