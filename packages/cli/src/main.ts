/** The `dsh-sandbox` command: reads its words, does what they say, and resolves with the exit status. */

import { readFileSync } from 'node:fs'
import { parseArguments } from './arguments.ts'
import { proveBackends } from './backends.ts'
import { diagnosisJson, diagnosisText } from './doctor.ts'
import { complain } from './complain.ts'
import { signalStatus } from './exit-status.ts'
import { write } from './output.ts'
import { paletteFor } from './report.ts'
import { runCommand } from './run-command.ts'
import { watchSignals } from './signals.ts'

/** `argv` is what follows the program's name. Never rejects. */
export async function main(argv: readonly string[]): Promise<number> {
  try {
    return await obey(argv)
  } catch (error) {
    return await complain(error)
  }
}

async function obey(argv: readonly string[]): Promise<number> {
  const invocation = parseArguments(argv, packageVersion())
  switch (invocation.kind) {
    case 'text':
      await write(process.stdout, invocation.text)
      return 0
    case 'doctor':
      return await examine(invocation.json)
    case 'run':
      return await runCommand(invocation)
  }
}

async function examine(json: boolean): Promise<number> {
  // It takes a moment, and what it has made is cleared away before a signal is obeyed.
  const watch = watchSignals()
  const proofs = await proveBackends().finally(() => watch.release())
  if (watch.received !== undefined) return signalStatus(watch.received)
  const { text, status } = json
    ? diagnosisJson(proofs)
    : diagnosisText(proofs, paletteFor(process.stdout, process.env))
  await write(process.stdout, text)
  return status
}

function packageVersion(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : ''
}
