/** The demo in words. Pure. */

import type { BackendReport } from 'dsh-sandbox-local'
import { oneLine, type Palette, table } from '../report.ts'
import { demoNote } from './cases.ts'
import type { DemoRow } from './round.ts'

const HEAD = ['backend', 'mode', 'what', 'command', 'enforcement', 'exit', 'denied', 'note'] as const

/** A row for each command. */
export function demoTable(rows: readonly DemoRow[], palette: Palette): string {
  return table(
    HEAD,
    rows.map((row) => [
      row.mode === 'danger-full-access' ? '-' : row.backend,
      row.mode,
      row.demo.what,
      row.demo.script,
      row.enforcement,
      String(row.seen.ended),
      row.seen.denied ? palette.yellow('yes') : 'no',
      row.faults.length === 0
        ? palette.green(demoNote(row.demo, row.seen))
        : palette.red(`OFF: ${oneLine(row.faults.join('; '))}`),
    ]),
  )
}

/** For each backend that does not work: why, and the way out, on one line. */
export function unusableLines(reports: readonly BackendReport[]): string {
  return reports
    .filter((report) => !report.usable)
    .map(({ backend, failure }) =>
      failure === undefined
        ? `${backend} is not usable here\n`
        : `${backend} is not usable here: ${oneLine(`${failure.step}: ${failure.detail}. Fix: ${failure.fix}`)}\n`,
    )
    .join('')
}

/** How many commands did as promised. */
export function demoSummary(rows: readonly DemoRow[]): string {
  const off = rows.filter((row) => row.faults.length > 0).length
  return off === 0
    ? `${rows.length} commands, all as promised.\n`
    : `${off} of ${rows.length} commands NOT as promised.\n`
}

export const NO_BACKEND_LEFT =
  'No backend works here, so nothing can be shown: install bubblewrap, or run a kernel that enforces Landlock.\n'

/** What someone needs next: the command line, and the rows of a harness config. */
export const NEXT_STEPS = `
Try it:       npx dsh-sandbox run -c 'touch /etc/x'
In a config:  - { id: sandbox, name: dsh-sandbox-local }
              - { id: bash, name: dsh-bash-sandbox, config: { mode: workspace-write } }
`
