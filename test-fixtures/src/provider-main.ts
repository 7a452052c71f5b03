/**
 * The provider suite as a program, for a process that sees another kernel: one JSON line per check on stdout.
 *
 *     node dist/provider-main.js BACKEND [TITLE]…
 *
 * Exits 0 once every check has been tried, whatever came of it.
 */

import { createLocalSandboxProvider } from 'dsh-sandbox-local'
import { backendNamed } from './corpus.ts'
import { PROVIDER_CHECKS, type ProviderCheck } from './provider-conformance.ts'
import { withFolder } from './scratch.ts'

/** What came of one check. */
export interface CheckReport {
  readonly title: string
  /** Undefined: it holds. */
  readonly fault?: string | undefined
}

const [wanted, ...titles] = process.argv.slice(2)
const backend = backendNamed(wanted)

async function faultOf(holds: ProviderCheck): Promise<string | undefined> {
  try {
    await withFolder((folder) => holds({ make: () => createLocalSandboxProvider({ backend }), folder }))
    return undefined
  } catch (error) {
    return error instanceof Error ? (error.stack ?? error.message) : String(error)
  }
}

for (const [title, holds] of Object.entries(PROVIDER_CHECKS)) {
  if (titles.length > 0 && !titles.includes(title)) continue
  const report: CheckReport = { title, fault: await faultOf(holds) }
  console.log(JSON.stringify(report))
}
