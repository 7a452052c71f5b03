/** `dsh-sandbox doctor`: which backends work, what each really stops, and how to mend those that do not work. Pure. */

import { SANDBOX_EFFECTS, type SandboxEffect } from 'dsh-sandbox'
import type { BackendProof, BackendReport, EffectProof, ModeProof } from 'dsh-sandbox-local'
import { oneLine, type Palette, table } from './report.ts'

/** What the doctor says and the status it exits with: 0 when a backend works and no word is wrong, else 1. */
export interface Diagnosis {
  readonly text: string
  readonly status: 0 | 1
}

/** The backends as a table, what each enforces as another, then a line or two for all that is not well. */
export function diagnosisText(proofs: readonly BackendProof[], palette: Palette): Diagnosis {
  const reports = proofs.map(({ report }) => report)
  const notes = reports.flatMap((report) => [...noteLines(report), ...failureLines(report)])
  const text =
    table(
      ['backend', 'usable', 'enforcement', 'version', 'path'],
      proofs.map((one) => reportRow(one, palette)),
    ) +
    effectMatrix(proofs, palette) +
    [...notes, ...proofLines(proofs)].map((line) => `${line}\n`).join('')
  return { text: usableBackends(reports).length > 0 ? text : text + NO_BACKEND, status: statusOf(proofs) }
}

/** The same as one JSON object. */
export function diagnosisJson(proofs: readonly BackendProof[]): Diagnosis {
  const usable = proofs.some(({ report }) => report.usable)
  const backends = proofs.map(({ report, modes }) => ({ ...report, modes }))
  return {
    text: `${JSON.stringify({ usable, wrong: wrongWords(proofs).length, backends })}\n`,
    status: statusOf(proofs),
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

/** A word with the backend and the mode that it is of. */
interface StatedWord extends EffectProof {
  readonly backend: string
  readonly mode: string
}

function statedWords(proofs: readonly BackendProof[]): readonly StatedWord[] {
  return proofs.flatMap(({ report: { backend }, modes }) =>
    modes.flatMap(({ mode, effects }) => effects.map((effect) => ({ ...effect, backend, mode }))),
  )
}

function wrongWords(proofs: readonly BackendProof[]): readonly StatedWord[] {
  return statedWords(proofs).filter(({ proof }) => proof === 'wrong')
}

function statusOf(proofs: readonly BackendProof[]): 0 | 1 {
  const works = proofs.some(({ report }) => report.usable)
  return works && wrongWords(proofs).length === 0 ? 0 : 1
}

function reportRow({ report, modes }: BackendProof, palette: Palette): readonly string[] {
  return [
    report.backend,
    report.usable ? palette.green('yes') : palette.red('no'),
    enforcementOf(modes),
    versionOf(report),
    oneLine(report.path ?? '-'),
  ]
}

/** One word where the modes agree. */
function enforcementOf(modes: readonly ModeProof[]): string {
  const words = [...new Set(modes.map(({ enforcement }) => enforcement))]
  if (words.length > 1) return modes.map(({ mode, enforcement }) => `${enforcement} (${mode})`).join('\n')
  return words[0] ?? '-'
}

function versionOf(report: BackendReport): string {
  const abi = report.abi === undefined ? undefined : `ABI ${report.abi}`
  const parts = [report.version, abi].filter((part) => part !== undefined)
  return parts.length === 0 ? '-' : oneLine(parts.join(', '))
}

/** Effects down, backends and modes across; empty when nothing states any. */
function effectMatrix(proofs: readonly BackendProof[], palette: Palette): string {
  const columns = proofs.flatMap(({ report: { backend }, modes }) =>
    modes.filter(({ effects }) => effects.length > 0).map((mode) => ({ backend, ...mode })),
  )
  if (columns.length === 0) return ''
  const head = ['effect', ...columns.map(({ backend, mode }) => `${backend}\n${mode}`)]
  const rows = SANDBOX_EFFECTS.map((effect) => [
    effect,
    ...columns.map(({ effects }) => wordCell(effects, effect, palette)),
  ])
  return table(head, rows)
}

function wordCell(effects: readonly EffectProof[], effect: SandboxEffect, palette: Palette): string {
  const found = effects.find((one) => one.effect === effect)
  if (found === undefined) return '-'
  const colour = found.word === 'enforced' ? palette.green : palette.yellow
  switch (found.proof) {
    case 'proved':
      return colour(found.word)
    case 'wrong':
      return palette.red(`${found.word}: WRONG`)
    case 'unproved':
      return `${colour(found.word)} *`
  }
}

/** A line for each word that is wrong, and for all those of one backend that this host cannot prove. */
function proofLines(proofs: readonly BackendProof[]): readonly string[] {
  const wrong = wrongWords(proofs).map(
    ({ backend, mode, effect, word, why = '' }) =>
      `${backend}: ${mode}: ${effect} is said to be ${word}, and is not: ${oneLine(why)}`,
  )
  const advice =
    wrong.length === 0 ? [] : ['  fix: do not rely on this backend; please report what the lines above say']
  return [...wrong, ...advice, ...proofs.flatMap(unprovedLines)]
}

function unprovedLines({ report: { backend }, modes }: BackendProof): readonly string[] {
  const unproved = modes.flatMap(({ effects }) => effects.filter(({ proof }) => proof === 'unproved'))
  const reasons = [...new Set(unproved.map(({ why = '' }) => why))]
  return reasons.map((reason) => {
    const effects = new Set(unproved.filter(({ why }) => why === reason).map(({ effect }) => effect))
    const which = effects.size === SANDBOX_EFFECTS.length ? 'no word' : [...effects].join(', ')
    const not = effects.size === SANDBOX_EFFECTS.length ? 'proved' : 'not proved'
    return `* ${backend}: ${which} ${not}: ${oneLine(reason)}`
  })
}

function noteLines(report: BackendReport): readonly string[] {
  return report.note === undefined ? [] : [`${report.backend}: ${oneLine(report.note)}`]
}
