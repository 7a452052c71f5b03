/** Every case, under every backend, as root and as an ordinary user. The programs that run them are started here. */

import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { appliesTo, CORPUS_BACKENDS, type CorpusBackend, type CorpusUser, loadCorpus } from './corpus.ts'
import { type Deployment, deploy, type Extent } from './deploy.ts'
import { areClosedFromOutside } from './needs.ts'
import { backendFault, isRequired } from './required-backends.ts'
import type { CaseReport } from './run-case.ts'
import { runCorpus } from './run-corpus.ts'

const PACKAGE_FOLDER = fileURLToPath(new URL('..', import.meta.url))
const BUILT_MAIN = `${PACKAGE_FOLDER}dist/corpus-main.js`

/** Milliseconds for one whole column. */
const COLUMN_TIMEOUT_MS = 120_000

const isRoot = process.getuid?.() === 0
const users: readonly CorpusUser[] = isRoot ? ['root', 'user'] : ['user']

const deployments = new Map<Extent, Deployment>()

function deployed(extent: Extent): string {
  const deployment = deployments.get(extent) ?? deploy(PACKAGE_FOLDER, extent)
  deployments.set(extent, deployment)
  return `${deployment.packageFolder}/dist/corpus-main.js`
}

/** The checkout may lie where an ordinary user cannot read it, so that user gets a copy; it may have a launcher, too. */
function mainFor(backend: CorpusBackend, user: CorpusUser): string {
  if (backend === 'bwrap-alone') return deployed('without-launcher')
  return user === 'root' || !isRoot ? BUILT_MAIN : deployed('whole')
}

async function runColumn(backend: CorpusBackend, user: CorpusUser): Promise<ReadonlyMap<string, CaseReport>> {
  const main = mainFor(backend, user)
  const reports = await runCorpus({ main, backend, user, provider: 'local', caseIds: ['all'] })
  return new Map(reports.map((report) => [report.id, report]))
}

type Column = Promise<ReadonlyMap<string, CaseReport>>

/** Columns that run or have run. Nothing is started before a case of it is wanted. */
const columns = new Map<string, Column>()

/** The users' columns of one backend run side by side: the machine may have two cores. */
function columnOf(backend: CorpusBackend, user: CorpusUser): Column {
  const known = columns.get(`${backend}/${user}`)
  if (known !== undefined) return known
  for (const one of users) columns.set(`${backend}/${one}`, startColumn(backend, one))
  return columnOf(backend, user)
}

function startColumn(backend: CorpusBackend, user: CorpusUser): Column {
  const column = runColumn(backend, user)
  column.catch(() => undefined) // each of its cases awaits it and fails with the reason
  return column
}

/** A column that nobody waited for, since its cases were filtered out, still has to clear up after itself. */
afterAll(async () => {
  await Promise.allSettled(columns.values())
  deployments.forEach((deployment) => deployment.remove())
}, COLUMN_TIMEOUT_MS)

/** A case that this host cannot prove: on a laptop for any reason, else only for one that nobody there can mend. */
function isExcused({ outcome, lacks, backend }: CaseReport): boolean {
  if (outcome !== 'void' || lacks.length === 0) return false
  return !isRequired(backend) || areClosedFromOutside(lacks)
}

const faults = await Promise.all(
  CORPUS_BACKENDS.map(async (backend) => [backend, await backendFault(backend)] as const),
)

for (const [backend, fault] of faults) {
  for (const user of users) {
    describe(`corpus under ${backend} as ${user}`, () => {
      const cases = loadCorpus().filter((one) => appliesTo(one, backend, user))

      for (const { id, why } of cases) {
        it(`${id}: ${why}`, { timeout: COLUMN_TIMEOUT_MS }, async ({ skip }) => {
          if (fault !== undefined) {
            expect(isRequired(backend), fault).toBe(false)
            skip(fault)
          }
          const report = (await columnOf(backend, user)).get(id)
          if (report !== undefined && isExcused(report)) skip(report.why.join('; '))
          expect(report).toMatchObject({ id, backend, user, outcome: 'pass', why: [] })
        })
      }
    })
  }
}
