/** `dsh-sandbox doctor`: what it says of the backends, and how to mend those that do not work. Pure. */

import type { BackendReport } from 'dsh-sandbox-local'
import { oneLine, type Palette, table } from './report.ts'

/** What the doctor says and the status it exits with: 0 when at least one backend works, else 1. */
export interface Diagnosis {
  readonly text: string
  readonly status: 0 | 1
}

/** The reports as a table, then a line or two for each backend that does not work. */
export function diagnosisText(reports: readonly BackendReport[], palette: Palette): Diagnosis {
  const rows = reports.map((report) => reportRow(report, palette))
  const notes = reports.flatMap((report) => [...noteLines(report), ...failureLines(report)])
  const text =
    table(['backend', 'usable', 'enforcement', 'version', 'path'], rows) +
    notes.map((line) => `${line}\n`).join('')
  return { text: usableBackends(reports).length > 0 ? text : text + NO_BACKEND, status: statusOf(reports) }
}

/** The reports as one JSON object. */
export function diagnosisJson(reports: readonly BackendReport[]): Diagnosis {
  const usable = usableBackends(reports)
  return {
    text: `${JSON.stringify({ usable: usable.length > 0, backends: reports })}\n`,
    status: statusOf(reports),
  }
}

/** The backends that work, in the order in which they are preferred. */
export function usableBackends(reports: readonly BackendReport[]): readonly BackendReport[] {
  return reports.filter((report) => report.usable)
}

/** For each backend that does not work: the failed step, and below it the way out. */
export function failureLines(report: BackendReport): readonly string[] {
  if (report.failure === undefined) return []
  const { step, detail, fix } = report.failure
  return [`${report.backend}: ${oneLine(step)}: ${oneLine(detail)}`, `  fix: ${oneLine(fix)}`]
}

const NO_BACKEND = 'No backend works here: every confined mode will be refused.\n'

function statusOf(reports: readonly BackendReport[]): 0 | 1 {
  return usableBackends(reports).length > 0 ? 0 : 1
}

function reportRow(report: BackendReport, palette: Palette): readonly string[] {
  return [
    report.backend,
    report.usable ? palette.green('yes') : palette.red('no'),
    report.enforcement ?? '-',
    versionOf(report),
    oneLine(report.path ?? '-'),
  ]
}

function versionOf(report: BackendReport): string {
  const abi = report.abi === undefined ? undefined : `ABI ${report.abi}`
  const parts = [report.version, abi].filter((part) => part !== undefined)
  return parts.length === 0 ? '-' : oneLine(parts.join(', '))
}

function noteLines(report: BackendReport): readonly string[] {
  return report.note === undefined ? [] : [`${report.backend}: ${oneLine(report.note)}`]
}
