/** The variables by which programs find their temp. */

/** `TMPPREFIX` is zsh's: it names files there by appending to it (zshparam(1)). */
export function tempEnvironment(directory: string): Readonly<Record<string, string>> {
  return { TMPDIR: directory, TMP: directory, TEMP: directory, TMPPREFIX: `${directory}/zsh` }
}
