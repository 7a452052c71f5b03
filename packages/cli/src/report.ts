/** Sentences and tables for a person. Pure. */

import Table from 'cli-table3'
import picocolors from 'picocolors'

/** Colours, or the same functions that leave text as it is. */
export type Palette = ReturnType<typeof picocolors.createColors>

/** Only a terminal gets colours, and not one whose user said no (https://no-color.org: set and not empty). */
export function paletteFor(
  stream: { readonly isTTY?: boolean },
  environment: Readonly<Record<string, string | undefined>>,
): Palette {
  const refused = (environment['NO_COLOR'] ?? '') !== '' || environment['TERM'] === 'dumb'
  return picocolors.createColors(stream.isTTY === true && !refused)
}

/** One line on standard error: ours start with the command's name, the confined command's own do not. */
export function message(text: string): string {
  return `dsh-sandbox: ${oneLine(text)}\n`
}

/** `text` on one line, without anything that a terminal would obey. */
export function oneLine(text: string): string {
  return printable(text.trim().replace(/\s*\n\s*/g, '; '))
}

/** Control characters, the C1 set included, become `?`. */
function printable(text: string): string {
  return text.replace(/[\p{Cc}\u2028\u2029]/gu, '?')
}

/** No line between rows, and no colours but those that the cells bring. */
const PLAIN_FRAME = {
  chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  style: { head: [], border: [] },
}

/** Rows under a head, in a frame; the last line end is included. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const drawn = new Table(PLAIN_FRAME)
  for (const row of [head, ...rows]) drawn.push([...row])
  return `${drawn.toString()}\n`
}
