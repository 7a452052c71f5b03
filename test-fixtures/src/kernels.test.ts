/**
 * Every Landlock that a kernel may have, and none, on whatever kernel runs the tests: `fault-run` pretends them. Of the
 * corpus, what can turn on them; of the provider's suite, everything.
 */

import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { SANDBOX_EFFECTS } from 'dsh-sandbox'
import { afterAll, describe, expect, it } from 'vitest'
import { appliesTo, type CorpusCase, type CorpusUser, type LaunchedBackend, loadCorpus } from './corpus.ts'
import { type Deployment, deploy } from './deploy.ts'
import { missingNeeds } from './needs.ts'
import type { CheckReport } from './provider-main.ts'
import { PROVIDER_CHECKS } from './provider-conformance.ts'
import type { Attempt } from './refusal-main.ts'
import type { ProvedWord } from './self-test-main.ts'
import { backendFault, isRequired } from './required-backends.ts'
import type { CaseReport } from './run-case.ts'
import { ORDINARY_ID, runCorpus } from './run-corpus.ts'
import {
  canSimulateKernels,
  type KernelName,
  KERNELS_WITHOUT_LANDLOCK,
  LANDLOCK_KERNELS,
  simulating,
} from './simulated-kernels.ts'

const PACKAGE_FOLDER = fileURLToPath(new URL('..', import.meta.url))

/** Milliseconds for all columns together, which the first case waits for. */
const COLUMNS_TIMEOUT_MS = 240_000

/** Columns at a time. Cases wait more than they work, so a few more than a machine has cores. */
const LANES = 4

const isRoot = process.getuid?.() === 0
const users: readonly CorpusUser[] = isRoot ? ['root', 'user'] : ['user']
const me: CorpusUser = isRoot ? 'root' : 'user'

let deployment: Deployment | undefined

/** The program, where `user` can read it: the checkout may lie where an ordinary user cannot. */
function builtProgram(name: string, user: CorpusUser): string {
  if (user === 'root' || !isRoot) return `${PACKAGE_FOLDER}dist/${name}`
  deployment ??= deploy(PACKAGE_FOLDER, 'whole')
  return `${deployment.packageFolder}/dist/${name}`
}

/** Effects that some Landlock governs and an older one does not, and areas of what an older one forbids too much of. */
const TURNS_ON_THE_ABI: readonly string[] = [
  ...['rename', 'truncate', 'device-ioctl', 'signal-host', 'unix-abstract'],
  ...['names', 'workspace'],
]

function turnsOnTheAbi({ area, effect }: CorpusCase): boolean {
  return TURNS_ON_THE_ABI.includes(area) || (effect !== undefined && TURNS_ON_THE_ABI.includes(effect))
}

/** Under bubblewrap every attack may have been stopped by the Landlock underneath. */
function turnsOnLandlock({ area, effect }: CorpusCase): boolean {
  return effect !== undefined || area === 'workspace'
}

interface Column {
  readonly backend: LaunchedBackend
  readonly kernel: KernelName
  readonly user: CorpusUser
  readonly cases: readonly CorpusCase[]
}

/** What this host cannot arrange at all is said once, by the corpus on the running kernel. */
const arrangeable = loadCorpus().filter((one) => missingNeeds(one.needs ?? []).length === 0)

function column(
  { backend, kernel, user }: Omit<Column, 'cases'>,
  isChosen: (one: CorpusCase) => boolean,
): Column {
  const cases = arrangeable.filter((one) => appliesTo(one, backend, user) && isChosen(one))
  return { backend, kernel, user, cases }
}

/** The launcher does the same whatever the kernel's reason, so one of them is as good as all. */
const NO_LANDLOCK = 'not-in-the-kernel'

/** Where root tries an ordinary user as well: on the first, and on the last that lets signals out. */
const ALSO_AS_USER: readonly KernelName[] = ['abi-1', 'abi-5']

const COLUMNS: readonly Column[] = [
  ...LANDLOCK_KERNELS.flatMap((kernel) =>
    (ALSO_AS_USER.includes(kernel) ? users : [me]).map((user) =>
      column({ backend: 'landlock', kernel, user }, turnsOnTheAbi),
    ),
  ),
  ...users.map((user) => column({ backend: 'bwrap', kernel: NO_LANDLOCK, user }, turnsOnLandlock)),
]

type Reports = ReadonlyMap<string, CaseReport>

async function runColumn({ backend, kernel, user, cases }: Column): Promise<Reports> {
  const reports = await runCorpus({
    main: builtProgram('corpus-main.js', user),
    ...{ backend, kernel, user, provider: 'local' },
    caseIds: cases.map(({ id }) => id),
  })
  return new Map(reports.map((report) => [report.id, report]))
}

/** Nothing is started before a case is wanted; then all columns are, a few at a time. */
const columns = new Map<Column, Promise<Reports>>()

function startColumns(): void {
  const lanes: Promise<unknown>[] = Array.from({ length: LANES }, () => Promise.resolve())
  for (const [index, one] of usableColumns.entries()) {
    const lane = index % LANES
    const reports = (lanes[lane] ?? Promise.resolve()).then(() => runColumn(one))
    lanes[lane] = reports.catch(() => undefined) // each of its cases awaits it and fails with the reason
    columns.set(one, reports)
  }
}

async function reportOf(one: Column, id: string): Promise<CaseReport | undefined> {
  if (columns.size === 0) startColumns()
  return (await columns.get(one))?.get(id)
}

/** Columns that nobody waited for, since their cases were filtered out, still have to clear up after themselves. */
afterAll(async () => {
  await Promise.allSettled(columns.values())
  deployment?.remove()
}, COLUMNS_TIMEOUT_MS)

const NOT_BUILT = 'the native code was not built, so no kernel can be simulated'
const faults = {
  landlock: canSimulateKernels() ? undefined : NOT_BUILT,
  bwrap: canSimulateKernels() ? await backendFault('bwrap') : NOT_BUILT,
} as const satisfies Record<LaunchedBackend, string | undefined>
const usableColumns = COLUMNS.filter(({ backend }) => faults[backend] === undefined)

for (const one of COLUMNS) {
  const { backend, kernel, user, cases } = one
  const fault = faults[backend]
  describe(`corpus under ${backend} as ${user}, kernel: ${kernel}`, () => {
    for (const { id, why } of cases) {
      it(`${id}: ${why}`, { timeout: COLUMNS_TIMEOUT_MS }, async ({ skip }) => {
        if (fault !== undefined) {
          expect(isRequired(backend), fault).toBe(false)
          skip(fault)
        }
        const report = await reportOf(one, id)
        // An account may lack what the account that chose the cases has.
        if (report !== undefined && report.lacks.length > 0 && !isRequired(backend))
          skip(report.why.join('; '))
        expect(report).toMatchObject({ id, backend, user, outcome: 'pass', why: [] })
      })
    }
  })
}

/** Runs a program where `kernel` is what it sees; answers with the JSON lines that it prints. */
async function reportsFrom<Report>(
  program: string,
  { backend, kernel, user }: Omit<Column, 'cases'>,
): Promise<readonly Report[]> {
  const asUser = isRoot && user === 'user'
  const identity = asUser
    ? ['setpriv', `--reuid=${ORDINARY_ID}`, `--regid=${ORDINARY_ID}`, '--clear-groups']
    : []
  const node = [process.execPath, builtProgram(program, user), backend]
  const [file = '', ...args] = [...simulating(kernel), ...identity, ...node]
  const { stdout } = await promisify(execFile)(file, args, { cwd: '/' })
  // Programs of our own print them, from values of these very types.
  return stdout
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Report)
}

describe.skipIf(!canSimulateKernels() && !isRequired('landlock'))(
  'the provider',
  { concurrent: true },
  () => {
    const EVERY_CHECK = Object.keys(PROVIDER_CHECKS).map((title) => ({ title }))

    // The suite is no part of what is deployed, so it runs as whoever runs the tests.
    it.each(LANDLOCK_KERNELS)('with landlock holds to its suite, kernel: %s', async (kernel) => {
      const reports = await reportsFrom<CheckReport>('provider-main.js', {
        backend: 'landlock',
        kernel,
        user: me,
      })
      expect(reports).toEqual(EVERY_CHECK)
    })

    it.for(KERNELS_WITHOUT_LANDLOCK)(
      'with bwrap holds to its suite, kernel: %s',
      async (kernel, { skip }) => {
        skip(faults.bwrap !== undefined && !isRequired('bwrap'), faults.bwrap)
        const reports = await reportsFrom<CheckReport>('provider-main.js', {
          backend: 'bwrap',
          kernel,
          user: me,
        })
        expect(reports).toEqual(EVERY_CHECK)
      },
    )
  },
)

/** Each word of a backend on a kernel, tried in both directions by the provider's own self-test. */
describe.skipIf(!canSimulateKernels() && !isRequired('landlock'))(
  'what is said',
  { concurrent: true },
  () => {
    const statements = [
      ...LANDLOCK_KERNELS.flatMap((kernel) =>
        users.map((user) => ({ backend: 'landlock', kernel, user }) as const),
      ),
      ...users.map((user) => ({ backend: 'bwrap', kernel: NO_LANDLOCK, user }) as const),
      ...users.map((user) => ({ backend: 'bwrap', kernel: 'abi-5', user }) as const),
    ]

    it.for(statements)('of $backend holds, kernel: $kernel, as $user', async (statement, { skip }) => {
      const { backend } = statement
      skip(faults[backend] !== undefined && !isRequired(backend), faults[backend])
      const words = await reportsFrom<ProvedWord>('self-test-main.js', statement)
      expect(words.length).toBe(2 * SANDBOX_EFFECTS.length)
      // An ordinary user may find no device but those that every command gets.
      const excused = (one: ProvedWord) => one.effect === 'device-ioctl' && one.proof === 'unproved'
      expect(words.filter((one) => one.proof !== 'proved' && !excused(one))).toEqual([])
    })
  },
)

/** How strerror(3) puts what the kernel answers. */
const REASONS = {
  'not-in-the-kernel': 'Function not implemented',
  'off-at-boot': 'Operation not supported',
  'barred-by-a-container': 'Operation not permitted',
} as const satisfies Record<(typeof KERNELS_WITHOUT_LANDLOCK)[number], string>

describe.skipIf(!canSimulateKernels() && !isRequired('landlock'))('landlock', { concurrent: true }, () => {
  describe.each(users)('as %s', (user) => {
    it.each(LANDLOCK_KERNELS)('runs commands, kernel: %s', async (kernel) => {
      const attempts = await reportsFrom<Attempt>('refusal-main.js', { backend: 'landlock', kernel, user })
      expect(attempts.map(({ mode, written, code }) => ({ mode, written, code }))).toEqual([
        { mode: 'read-only', written: false },
        { mode: 'read-only', written: false },
        { mode: 'workspace-write', written: true },
        { mode: 'workspace-write', written: true },
      ])
      expect(attempts.every(({ printed }) => printed.startsWith('ran\n'))).toBe(true)
    })

    it.each(KERNELS_WITHOUT_LANDLOCK)('runs nothing and says why, kernel: %s', async (kernel) => {
      const attempts = await reportsFrom<Attempt>('refusal-main.js', { backend: 'landlock', kernel, user })
      expect(attempts.length).toBe(4)
      for (const { printed, written, code, detail } of attempts) {
        expect({ printed, written, code }).toEqual({
          printed: '',
          written: false,
          code: 'SANDBOX_UNAVAILABLE',
        })
        expect(detail).toContain(`landlock: ruleset: landlock-run: create-ruleset: ${REASONS[kernel]} (fix: `)
      }
    })
  })
})
