/**
 * Proves every word of a backend on this host: each effect's acts are tried without confinement first, then confined, on
 * what lies outside and on the command's own. Runs real processes in a scratch of its own and leaves nothing behind.
 */

import { randomUUID } from 'node:crypto'
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { LAUNCHER_OPTIONS } from 'dsh-landlock'
import {
  isConfinedMode,
  isWithin,
  SANDBOX_EFFECTS,
  SANDBOX_MODES,
  type ConfinedSandboxMode,
} from 'dsh-sandbox'
import type { Backend } from '../backends/backend.ts'
import type { Statement } from '../effects.ts'
import type { GroundedPolicy } from '../grounded-policy.ts'
import { makeRoot, plainPolicy } from '../scratch-policy.ts'
import { fileAttempts, forbiddenAttempts, outsideAttempts, ownAttempts, type Attempt } from './acts.ts'
import { proofsOf, type Direction, type EffectProof, type Observation } from './proof.ts'
import { startTargets, type LiveTargets } from './targets.ts'

/** What a backend says of one mode, and what came of trying it. */
export interface ModeProof {
  readonly mode: ConfinedSandboxMode
  readonly enforcement: Statement['enforcement']
  /** One per effect; empty when the backend states none. */
  readonly effects: readonly EffectProof[]
}

export interface SelfTestSite {
  /** Where the scratch is made; a sibling of the private state. */
  readonly parent: string
  readonly timeoutMs: number
  /** The session temp that the commands may write. */
  readonly temp: string
}

const CONFINED_MODES = SANDBOX_MODES.filter(isConfinedMode)

/** Tries `backend` in every confined mode. Rejects when the host cannot hold the test itself. */
export async function selfTest(backend: Backend, site: SelfTestSite): Promise<readonly ModeProof[]> {
  const { launcher } = backend
  if (launcher === undefined) return CONFINED_MODES.map((mode) => untried(backend, mode))
  const scratch = realpathSync(mkdtempSync(join(site.parent, 'dsh-self-test-')))
  try {
    const targets = await startTargets(scratch)
    try {
      const proofs: ModeProof[] = []
      // One after the other: an act that slows another down would look like a word that is wrong.
      for (const mode of CONFINED_MODES)
        proofs.push(await proveMode(backend, mode, { ...site, launcher, scratch, targets }))
      return proofs
    } finally {
      await targets.end()
    }
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

interface Arena extends SelfTestSite {
  /** Tries the acts. */
  readonly launcher: string
  readonly scratch: string
  readonly targets: LiveTargets
}

function untried(backend: Backend, mode: ConfinedSandboxMode): ModeProof {
  const { enforcement, effects } = backend.statements[mode]
  const why = 'the launcher, which tries the acts, is not here'
  return {
    mode,
    enforcement,
    effects:
      effects === undefined
        ? []
        : SANDBOX_EFFECTS.map((effect) => ({ effect, word: effects[effect], proof: 'unproved', why })),
  }
}

async function proveMode(backend: Backend, mode: ConfinedSandboxMode, arena: Arena): Promise<ModeProof> {
  const { enforcement, effects, closedEverywhere } = backend.statements[mode]
  if (effects === undefined) return { mode, enforcement, effects: [] }
  const own = join(arena.temp, `self-test-${randomUUID()}`)
  mkdirSync(own)
  try {
    const workspace = makeRoot(join(arena.scratch, mode))
    const policy = plainPolicy(mode, workspace, arena.temp)
    const observations = await observe(backend, policy, own, arena)
    return { mode, enforcement, effects: proofsOf(effects, observations, closedEverywhere) }
  } finally {
    rmSync(own, { recursive: true, force: true })
  }
}

interface Placed {
  readonly direction: Direction
  readonly attempt: Attempt
}

async function observe(
  backend: Backend,
  policy: GroundedPolicy,
  own: string,
  arena: Arena,
): Promise<readonly Observation[]> {
  const { tempDir, maskedRoots, visibleRoots } = backend.view(policy)
  const root = policy.mode === 'read-only' ? own : policy.workspace.path
  const inside = policy.mode === 'read-only' ? join(tempDir, own.slice(arena.temp.length)) : root
  const openRoot = makeRoot(join(arena.scratch, `${policy.mode}-open`)).path
  const open = await run((argv) => argv, await place(openRoot, openRoot, `${policy.mode}-1`, arena), arena)
  const attempts = await place(root, inside, `${policy.mode}-2`, arena)
  const confined = await run((argv) => backend.wrap(argv, policy, undefined), attempts, arena)
  return attempts.flatMap(({ direction, attempt: { act, effect, subject } }, index) => {
    // What is masked is not the thing outside any more, so no word is about it.
    const masked = !isWithin(inside, subject) && isMasked(subject, maskedRoots, visibleRoots)
    const worksInTheOpen = open[index] ?? false
    return masked ? [] : [{ effect, act, direction, worksInTheOpen, worksConfined: confined[index] ?? false }]
  })
}

function isMasked(subject: string, masked: readonly string[], visible: readonly string[]): boolean {
  const covers = (roots: readonly string[]) => roots.some((root) => isWithin(root, subject))
  return covers(masked.filter((root) => root !== '/dev')) && !covers(visible)
}

/** Fresh things to act on: the command's own in `own` (on the host, and as it names it), the others in a new directory. */
async function place(own: string, inside: string, name: string, arena: Arena): Promise<readonly Placed[]> {
  const outside = makeRoot(join(arena.scratch, name)).path
  const targets = await arena.targets.forRun(outside)
  return [
    ...[
      ...fileAttempts(outside, outside),
      ...outsideAttempts(targets),
      ...forbiddenAttempts(own, inside),
    ].map((attempt): Placed => ({
      direction: 'outside',
      attempt,
    })),
    ...[...fileAttempts(own, inside), ...ownAttempts(inside)].map((attempt): Placed => ({
      direction: 'own',
      attempt,
    })),
  ]
}

/** Whether each attempt came to pass. */
async function run(
  wrap: (argv: readonly string[]) => readonly string[],
  placed: readonly Placed[],
  { launcher, scratch, timeoutMs }: Arena,
): Promise<readonly boolean[]> {
  const words = placed.flatMap(({ attempt }) => [attempt.act, attempt.subject])
  const [program = '', ...rest] = wrap([launcher, LAUNCHER_OPTIONS.tryActs, ...words])
  const { stdout = '' } = await execa(program, rest, {
    cwd: scratch,
    stdin: 'ignore',
    reject: false,
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
    extendEnv: false,
    env: { PATH: '/usr/local/bin:/usr/bin:/bin' },
  })
  const lines = stdout.split('\n')
  return placed.map(({ attempt }, index) => attempt.worked(errnoIn(lines[index], attempt.act)))
}

function errnoIn(line: string | undefined, act: string): number | undefined {
  const [name, errno] = line?.split(' ') ?? []
  return name === act && errno !== undefined ? Number(errno) : undefined
}
