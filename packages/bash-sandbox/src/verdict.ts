/** What a confined command's end means. Pure; a runner failure outranks a denial. */

import type { BashSandboxInfo } from 'dsh-bash'
import type { EndedCommand } from 'dsh-bash-local'
import type { ConfinedSandboxMode } from 'dsh-sandbox'
import { findDenial, type DenialFacts } from './denial.ts'
import { runnerFailure } from './runner-failure.ts'

export type Verdict =
  | { readonly runnerFailed: false; readonly info: BashSandboxInfo }
  | { readonly runnerFailed: true; readonly info: BashSandboxInfo; readonly detail: string }

export function verdict(ended: EndedCommand, mode: ConfinedSandboxMode, facts: DenialFacts): Verdict {
  const { enforcement, backend, effects } = facts.confined
  const known = {
    mode,
    enforcement,
    ...(backend === undefined ? {} : { backend }),
    ...(effects === undefined ? {} : { effects }),
  }
  const detail = runnerFailure(ended, facts.confined)
  if (detail !== undefined)
    return { runnerFailed: true, detail, info: { ...known, denied: false, runnerFailed: true } }
  const denial = findDenial(ended, facts)
  return {
    runnerFailed: false,
    info: { ...known, denied: denial !== undefined, ...(denial === undefined ? {} : { denial }) },
  }
}
