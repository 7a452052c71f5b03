/**
 * Runs one case: the attack in the open first, then the same in a fresh world inside the sandbox. Looks at the world,
 * then at the verdict, then at the words. A case that does not hold is a report, never an exception.
 */

import type { BashExecutor } from 'dsh-bash'
import { runInTheOpen } from './control.ts'
import {
  BACKEND_CHOICE,
  type CorpusBackend,
  type CorpusCase,
  type CorpusStep,
  type CorpusUser,
  type Expectation,
  expectationOn,
  type Need,
  stepsOf,
} from './corpus.ts'
import { type Ending, refusedEnding } from './ending.ts'
import { kernelIsBefore } from './kernel.ts'
import { missingNeeds } from './needs.ts'
import { wordDifferences, worldDifferences } from './scene.ts'
import { verdictDifferences } from './verdict.ts'
import { actIn, expandPlaces, makeWorld, pathIn, removeWorld, type World, worldVariables } from './world.ts'

export interface SessionOptions {
  readonly mode: CorpusCase['mode']
  readonly workspaceRoot: string
}

/** Where a case runs. */
export interface Bench {
  readonly backend: CorpusBackend
  readonly user: CorpusUser
  /** The folder behind the leaked descriptors; undefined where none are open. */
  readonly leak: string | undefined
  /** The kernel release that cases go by. Absent: the running kernel's. */
  readonly kernelRelease?: string | undefined
  /** Makes the executor of one session. */
  readonly makeExecutor: (options: SessionOptions) => Promise<BashExecutor>
}

/** `void`: the case proves nothing, since its attack does not work in the open or the host lacks something. */
export type CaseOutcome = 'pass' | 'fail' | 'void'

export interface CaseReport {
  readonly id: string
  readonly backend: CorpusBackend
  readonly user: CorpusUser
  readonly outcome: CaseOutcome
  /** One line per difference; empty when the case passes. */
  readonly why: readonly string[]
  /** What the host lacks. A void case that lacks nothing is a fault of the case. */
  readonly lacks: readonly Need[]
  /** Milliseconds, both worlds together. */
  readonly ms: number
}

type Findings = Pick<CaseReport, 'outcome' | 'why' | 'lacks'>

/** How each backend's denial reads; `$DENIED` stands for it. Source: strerror(EROFS), strerror(EACCES). */
const DENIAL_WORDS = {
  bwrap: 'Read-only file system',
  'bwrap-alone': 'Read-only file system',
  landlock: 'Permission denied',
} as const satisfies Record<CorpusBackend, string>

/** Runs `testCase` on `bench`. */
export async function runCase(testCase: CorpusCase, bench: Bench): Promise<CaseReport> {
  const startedAt = performance.now()
  const findings = await findingsOf(testCase, bench).catch(brokenFindings)
  const ms = Math.round(performance.now() - startedAt)
  return { id: testCase.id, backend: bench.backend, user: bench.user, ...findings, ms }
}

function brokenFindings(error: unknown): Findings {
  const text = error instanceof Error ? (error.stack ?? error.message) : String(error)
  return { outcome: 'fail', why: [`the case could not be run: ${text}`], lacks: [] }
}

async function findingsOf(testCase: CorpusCase, bench: Bench): Promise<Findings> {
  const lacks = missingNeeds(testCase.needs ?? [])
  if (lacks.length > 0)
    return { outcome: 'void', why: [`this host or account lacks ${lacks.join(', ')}`], lacks }
  const unproved = await inWorld(testCase, bench, (world) => unprovedAttack(testCase, bench, world))
  if (unproved.length > 0)
    return { outcome: 'void', why: unproved.map((line) => `in the open: ${line}`), lacks: [] }
  const why = await inWorld(testCase, bench, (world) => confinedDifferences(testCase, bench, world))
  return { outcome: why.length === 0 ? 'pass' : 'fail', why, lacks: [] }
}

/** Makes a world, sets the harness's own variables, and puts both back. */
async function inWorld(
  testCase: CorpusCase,
  bench: Bench,
  look: (world: World) => Promise<readonly string[]>,
): Promise<readonly string[]> {
  const world = await makeWorld(testCase.arrange ?? {}, bench.leak)
  const restore = setHarnessEnv(world, testCase.harnessEnv ?? {})
  try {
    return await look(world)
  } finally {
    restore()
    await removeWorld(world)
  }
}

function setHarnessEnv(world: World, variables: Readonly<Record<string, string>>): () => void {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
  for (const [name, value] of Object.entries(variables)) process.env[name] = expandPlaces(world, value)
  return () => {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name]
      else process.env[name] = value
    }
  }
}

async function unprovedAttack(testCase: CorpusCase, bench: Bench, world: World): Promise<readonly string[]> {
  if (testCase.attackWorked === undefined) return []
  let ending: Ending | undefined
  for (const step of stepsOf(testCase)) {
    for (const act of step.before ?? []) actIn(world, act)
    ending = await runInTheOpen({
      script: step.script,
      workdir: pathIn(world, testCase.workdir ?? 'ws'),
      env: worldVariables(world),
      temp: world.temp,
    })
  }
  return differences(world, ending, testCase.attackWorked, bench)
}

async function confinedDifferences(
  testCase: CorpusCase,
  bench: Bench,
  world: World,
): Promise<readonly string[]> {
  const sessions = new Map<string, Promise<BashExecutor>>()
  const sessionOf = (name: string): Promise<BashExecutor> => {
    const known = sessions.get(name) ?? bench.makeExecutor(sessionOptions(testCase, world))
    sessions.set(name, known)
    return known
  }
  try {
    return await stepDifferences(testCase, bench, world, sessionOf)
  } finally {
    for (const session of await Promise.allSettled(sessions.values())) {
      if (session.status === 'fulfilled') await session.value.dispose()
    }
  }
}

function sessionOptions(testCase: CorpusCase, world: World): SessionOptions {
  return { mode: testCase.mode, workspaceRoot: pathIn(world, testCase.workspaceRoot ?? 'ws') }
}

async function stepDifferences(
  testCase: CorpusCase,
  bench: Bench,
  world: World,
  sessionOf: (name: string) => Promise<BashExecutor>,
): Promise<readonly string[]> {
  const found: string[] = []
  let ending: Ending | undefined
  for (const [index, step] of stepsOf(testCase).entries()) {
    for (const act of step.before ?? []) actIn(world, act)
    ending = await confinedEnding(testCase, world, step, sessionOf)
    const inStep = step.expect === undefined ? [] : await differences(world, ending, step.expect, bench)
    found.push(...inStep.map((line) => `step ${index + 1}: ${line}`))
  }
  return [...found, ...(await finalDifferences(testCase, bench, world, ending))]
}

async function confinedEnding(
  testCase: CorpusCase,
  world: World,
  step: CorpusStep,
  sessionOf: (name: string) => Promise<BashExecutor>,
): Promise<Ending> {
  try {
    const bash = await sessionOf(step.session ?? 'a')
    const workdir = pathIn(world, testCase.workdir ?? 'ws')
    const env = worldVariables(world)
    const result = await bash.run(bash.resolve({ command: step.script, workdir, env, ...testCase.request }))
    const { exitCode: exit, signal, stdout, stderr, sandbox } = result
    return { exit, signal, stdout: stdout.text, stderr: stderr.text, sandbox }
  } catch (error) {
    return refusedEnding(error instanceof Error ? error : new Error(String(error)))
  }
}

/** After the last step: what the case expects, or the opposite where the backend honestly says the effect is open. */
async function finalDifferences(
  testCase: CorpusCase,
  bench: Bench,
  world: World,
  ending: Ending | undefined,
): Promise<readonly string[]> {
  const expected = expectationOn(testCase, bench.backend, bench.user, bench.kernelRelease)
  const { effect, attackWorked } = testCase
  if (effect === undefined || attackWorked === undefined) return differences(world, ending, expected, bench)
  const mayBe = mayBeOpen(testCase, bench)
  // A provider that makes no statement is held to what is known of its backend.
  const state = ending?.sandbox?.effects?.[effect] ?? (mayBe ? 'open' : 'enforced')
  // An effect is open as soon as one act gets through; this one may be stopped all the same.
  if (state === 'enforced' || !mayBe) return differences(world, ending, expected, bench)
  const stillThere = await differences(world, ending, attackWorked, bench)
  return stillThere.map((line) => `"${effect}" is open here, yet: ${line}`)
}

function mayBeOpen(testCase: CorpusCase, { backend, kernelRelease }: Bench): boolean {
  const since = testCase.openOn?.[backend] ?? testCase.openOn?.[BACKEND_CHOICE[backend]]
  return since === 'always' || (since !== undefined && kernelIsBefore(since, kernelRelease))
}

/** The world first, then the verdict, then the words. */
async function differences(
  world: World,
  ending: Ending | undefined,
  expected: Expectation,
  bench: Bench,
): Promise<readonly string[]> {
  if (ending === undefined) return ['no step ran']
  const spell = (text: string): string =>
    expandPlaces(world, text).replaceAll('$DENIED', DENIAL_WORDS[bench.backend])
  return [
    ...(await worldDifferences(world, expected)),
    ...verdictDifferences(world, ending, expected),
    ...wordDifferences(ending, expected, spell),
  ]
}
