/** Why a command could not be started. What a command does once it runs is a result, never an error. */

/** The working directory cannot be used; nothing ran. */
export class BashWorkdirError extends Error {
  override readonly name = 'BashWorkdirError'
  /** The errno name: `ENOENT`, `ENOTDIR` or `EACCES`. */
  readonly code: string
  readonly workdir: string

  constructor(code: string, workdir: string, options?: ErrorOptions) {
    const fault: Readonly<Record<string, string>> = {
      ENOENT: 'does not exist',
      ENOTDIR: 'is not a directory',
      EACCES: 'may not be entered',
    }
    super(
      `working directory ${workdir} ${fault[code] ?? `cannot be used (${code})`}; nothing was run`,
      options,
    )
    this.code = code
    this.workdir = workdir
  }
}
