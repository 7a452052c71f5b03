/** The demo: the same few commands under every backend of this host and every confined mode, and what came of them. */

import { isConfinedMode, SANDBOX_MODES } from 'dsh-sandbox'
import type { BackendReport } from 'dsh-sandbox-local'
import { BACKEND_CHOICES, type BackendChoice } from '../arguments.ts'
import { examineBackends } from '../backends.ts'
import { complain } from '../complain.ts'
import { usableBackends } from '../doctor.ts'
import { signalStatus } from '../exit-status.ts'
import { write } from '../output.ts'
import { paletteFor } from '../report.ts'
import { type SignalWatch, watchSignals } from '../signals.ts'
import { type DemoRow, demoRound } from './round.ts'
import { demoSummary, demoTable, NEXT_STEPS, NO_BACKEND_LEFT, unusableLines } from './show.ts'

/** Resolves with the exit status, never rejects: 0 when a backend works and every command did as promised. */
export async function demo(): Promise<number> {
  const watch = watchSignals()
  try {
    return await show(await examineBackends(), watch)
  } catch (error) {
    return watch.received === undefined ? await complain(error) : signalStatus(watch.received)
  } finally {
    watch.release()
  }
}

async function show(reports: readonly BackendReport[], watch: SignalWatch): Promise<number> {
  const backends = BACKEND_CHOICES.filter((choice) =>
    usableBackends(reports).some(({ backend }) => backend === choice),
  )
  if (backends.length === 0) {
    await write(process.stdout, unusableLines(reports) + NO_BACKEND_LEFT)
    return 1
  }
  const rows = await demoRows(backends, watch.signal)
  const palette = paletteFor(process.stdout, process.env)
  await write(
    process.stdout,
    demoTable(rows, palette) + unusableLines(reports) + demoSummary(rows) + NEXT_STEPS,
  )
  return rows.every((row) => row.faults.length === 0) ? 0 : 1
}

/** Without confinement first: only what works in the open proves something when it is denied. */
async function demoRows(
  backends: readonly BackendChoice[],
  signal: AbortSignal,
): Promise<readonly DemoRow[]> {
  const rows: DemoRow[] = [...(await demoRound('auto', 'danger-full-access', signal))]
  for (const backend of backends)
    for (const mode of SANDBOX_MODES.filter(isConfinedMode))
      rows.push(...(await demoRound(backend, mode, signal)))
  return rows
}
