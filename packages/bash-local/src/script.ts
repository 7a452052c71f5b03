/** A script as an argv for bash, also when it is longer than one argument may be. Pure. */

/**
 * UTF-16 units per argument. One unit is at most 3 bytes of UTF-8, so an argument stays under the kernel's 131072 bytes
 * (MAX_ARG_STRLEN, 32 pages; execve(2)). All arguments and the environment together have their own limit, 2 MiB under
 * the usual 8 MiB stack; past that the spawn fails with E2BIG.
 */
const UNITS_PER_ARGUMENT = 40_000

/** `bash -c` for a script of any length that the kernel takes, without login files. */
export function bashArgv(command: string): readonly string[] {
  return command.length <= UNITS_PER_ARGUMENT ? ['bash', '-c', command] : longScriptArgv(command)
}

/**
 * The pieces travel as positional parameters; `eval` joins them and clears the parameters first, so that the script
 * sees `$#` of 0 and `$0` of `bash` as it would after a plain `-c`. No newline is added, so line numbers hold.
 */
function longScriptArgv(command: string): readonly string[] {
  const pieces = piecesOf(command)
  const joined = pieces.map((_, index) => `\${${index + 1}}`).join('')
  return ['bash', '-c', `eval "set --;${joined}"`, 'bash', ...pieces]
}

function piecesOf(text: string): readonly string[] {
  const pieces: string[] = []
  for (let start = 0; start < text.length;) {
    const end = characterBoundary(text, start + UNITS_PER_ARGUMENT)
    pieces.push(text.slice(start, end))
    start = end
  }
  return pieces
}

/** `index`, or one less where it would part the two halves of one character. */
function characterBoundary(text: string, index: number): number {
  const unit = text.charCodeAt(index)
  return unit >= 0xdc00 && unit <= 0xdfff ? index - 1 : index
}
