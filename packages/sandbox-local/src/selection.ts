/**
 * Which backend confines: the first of the ladder that passes its probe. One verdict for the provider's life when it is
 * good; one that is tried again after a while when it is not, since what failed may have been passing.
 */

import { statSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { dirname, isAbsolute } from 'node:path'
import type { ConfinedSandboxMode } from 'dsh-sandbox'
import which from 'which'
import type { Backend } from './backends/backend.ts'
import { bwrapBackend } from './backends/bwrap.ts'
import { customBackend } from './backends/custom.ts'
import { landlockBackend, landlockGaps } from './backends/landlock.ts'
import { SANDBOX_EXEC, seatbeltBackend } from './backends/seatbelt.ts'
import { findBwrap, type Lookup } from './bwrap-lookup.ts'
import type { ProviderConfig } from './config.ts'
import type { BackendReport } from './failure.ts'
import type { HostFacts } from './host.ts'
import { settleLauncher, type SettledLauncher } from './launcher-copy.ts'
import { probe } from './probe.ts'
import { identifyRunner, type RunnerIdentity } from './runner-identity.ts'
import { distrust, type TrustRules } from './trust.ts'

type Rung = 'bwrap' | 'landlock' | 'seatbelt' | 'custom'

const LADDERS: Readonly<Partial<Record<NodeJS.Platform, readonly Rung[]>>> = {
  linux: ['bwrap', 'landlock'],
  darwin: ['seatbelt'],
}

/** What selecting needs from the provider. */
export interface SelectionGround {
  readonly config: ProviderConfig
  readonly host: HostFacts
  readonly trust: TrustRules
  /** The private state directory; made at the first call. */
  state(): string
  probeTemp(): string
}

/** A rung that was tried: its report, and the backend when it holds. */
export interface TriedRung {
  readonly report: BackendReport
  readonly backend?: Backend
  /** The programs that were probed, with the backend. */
  readonly runners?: readonly RunnerIdentity[]
}

/** The rungs that a configuration allows on a platform, in order. */
export function ladder(
  config: Pick<ProviderConfig, 'backend' | 'runnerCommand'>,
  platform: NodeJS.Platform,
): readonly Rung[] {
  if (config.runnerCommand.length > 0) return ['custom']
  if (config.backend !== 'auto') return [config.backend]
  return LADDERS[platform] ?? []
}

/** Tries rungs in order up to the first that holds. Never rejects. */
export async function select(ground: SelectionGround): Promise<readonly TriedRung[]> {
  const tried: TriedRung[] = []
  for (const rung of ladder(ground.config, ground.host.platform)) {
    const outcome = await tryRung(rung, ground)
    tried.push(outcome)
    if (outcome.backend !== undefined) break
  }
  return tried
}

/** Tries one rung. Never rejects: what goes wrong is its report. */
export async function tryRung(rung: Rung, ground: SelectionGround): Promise<TriedRung> {
  try {
    switch (rung) {
      case 'bwrap':
        return await tryBwrap(ground)
      case 'landlock':
        return await tryLandlock(ground)
      case 'seatbelt':
        return await trySeatbelt(ground)
      case 'custom':
        return await tryCustom(ground)
    }
  } catch (cause) {
    const detail = cause instanceof Error ? cause.message : String(cause)
    return failed(rung, {
      step: 'start',
      detail,
      fix: 'see that the directory for private state is writable',
    })
  }
}

async function tryBwrap(ground: SelectionGround): Promise<TriedRung> {
  if (ground.host.platform !== 'linux') return failed('bwrap', wrongPlatform('bubblewrap', 'Linux'))
  const { probeTimeoutMs } = ground.config
  const bwrap = await findBwrap(ground.trust, probeTimeoutMs)
  if ('failure' in bwrap) return failed('bwrap', bwrap.failure)
  const launcher = await settleLauncher(ground.state(), probeTimeoutMs)
  const backend = bwrapBackend(
    bwrap.found.path,
    'found' in launcher ? launcher.found : undefined,
    ground.host,
  )
  const note = launcherNote(launcher)
  return probed(backend, ground, { ...bwrap.found, ...(note === undefined ? {} : { note }) })
}

/** What is lost inside bubblewrap without the launcher or without Landlock. */
function launcherNote(launcher: Lookup<SettledLauncher>): string | undefined {
  if ('failure' in launcher)
    return `without the launcher (${launcher.failure.detail}): no Landlock underneath, TERM ends the command without its traps`
  if (launcher.found.landlockFailure !== undefined)
    return `no Landlock underneath: ${launcher.found.landlockFailure.detail}`
  return undefined
}

async function tryLandlock(ground: SelectionGround): Promise<TriedRung> {
  if (ground.host.platform !== 'linux') return failed('landlock', wrongPlatform('Landlock', 'Linux'))
  const launcher = await settleLauncher(ground.state(), ground.config.probeTimeoutMs)
  if ('failure' in launcher) return failed('landlock', launcher.failure)
  const { landlockFailure, landlockAbi, original: path } = launcher.found
  if (landlockFailure !== undefined) return failed('landlock', landlockFailure)
  if (landlockAbi === undefined) throw new Error('a launcher without an ABI must say what failed')
  const facts = { path, abi: landlockAbi, note: landlockGaps(landlockAbi) }
  return probed(landlockBackend(launcher.found), ground, facts)
}

async function trySeatbelt(ground: SelectionGround): Promise<TriedRung> {
  if (ground.host.platform !== 'darwin') return failed('seatbelt', wrongPlatform('sandbox-exec', 'macOS'))
  return probed(seatbeltBackend(), ground, { path: SANDBOX_EXEC })
}

/** The operator chose the program, so only what others could change about it counts against it. */
async function tryCustom(ground: SelectionGround): Promise<TriedRung> {
  const [program = '', ...options] = ground.config.runnerCommand
  const found = await which(program, { nothrow: true })
  if (found === null)
    return failed('custom', { step: 'find', detail: `no ${program} on PATH`, fix: 'correct runnerCommand' })
  const path = await realpath(found)
  // A path is the operator's own choice; a bare name is whatever PATH makes of it.
  const rules = program.includes('/') ? { ...ground.trust, untrustedRoots: [] } : ground.trust
  const scripts = await namedFiles(options)
  for (const file of [path, ...scripts]) {
    const fault = distrust(file, rules)
    if (fault !== undefined)
      return failed('custom', {
        step: 'trust',
        detail: `${file} ${fault}`,
        fix: 'let only its owner write it',
      })
  }
  return probed({ ...customBackend([path, ...options], ground.host), scripts }, ground, { path })
}

/** Files that options name by absolute path, canonical: the script behind an interpreter is as good as the program. */
async function namedFiles(options: readonly string[]): Promise<readonly string[]> {
  const paths = await Promise.all(
    options.filter((option) => isAbsolute(option)).map((path) => realpath(path).catch(() => '')),
  )
  return paths.filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
}

async function probed(
  backend: Backend,
  ground: SelectionGround,
  facts: Partial<BackendReport>,
): Promise<TriedRung> {
  const runners = backend.runners.map(identifyRunner)
  const failure = await probe(backend, {
    parent: dirname(ground.state()),
    timeoutMs: ground.config.probeTimeoutMs,
    temp: ground.probeTemp(),
  })
  if (failure !== undefined) return { report: { backend: backend.backend, usable: false, ...facts, failure } }
  return {
    report: { backend: backend.backend, usable: true, ...facts, enforcement: enforcementByMode(backend) },
    backend,
    runners,
  }
}

function enforcementByMode(backend: Backend): NonNullable<BackendReport['enforcement']> {
  const of = (mode: ConfinedSandboxMode) => backend.statements[mode].enforcement
  return { 'read-only': of('read-only'), 'workspace-write': of('workspace-write') }
}

function failed(rung: Rung, failure: NonNullable<BackendReport['failure']>): TriedRung {
  return { report: { backend: rung, usable: false, failure } }
}

function wrongPlatform(what: string, where: string): NonNullable<BackendReport['failure']> {
  return { step: 'find', detail: `${what} exists on ${where} only`, fix: 'use `--backend auto`' }
}
