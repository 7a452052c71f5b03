/**
 * The corpus as a program: one JSON line per case on stdout.
 *
 *     node dist/corpus-main.js --backend bwrap|landlock --case ID|all… [--provider NAME] [--user root|user]
 *                                [--kernel abi-1|…|abi-7|not-in-the-kernel|off-at-boot|barred-by-a-container]
 *
 * Started by hand it starts itself once more, with the leaked descriptors open; that second process runs the cases, one
 * after the other, since a case may set variables of the whole process. Exits 0 when every case passes or lacks
 * something that the host does not have, 1 when one does not, 2 when it was asked for something that does not exist.
 */

import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import {
  appliesTo,
  CORPUS_BACKENDS,
  CORPUS_USERS,
  type CorpusBackend,
  type CorpusCase,
  type CorpusUser,
  loadCorpus,
} from './corpus.ts'
import { withCorpusBench } from './corpus-bench.ts'
import { isProviderName, PROVIDER_NAMES, type ProviderName } from './leaky-providers.ts'
import { type CaseReport, runCase } from './run-case.ts'
import { runCorpus } from './run-corpus.ts'
import { KERNEL_NAMES, type KernelName } from './simulated-kernels.ts'

interface Errand {
  readonly backend: CorpusBackend
  readonly user: CorpusUser
  readonly provider: ProviderName
  readonly cases: readonly CorpusCase[]
  /** The kernel to pretend; undefined: none. */
  readonly kernel: KernelName | undefined
  /** Set in the process that runs the cases. */
  readonly leak: string | undefined
}

/** Something was asked for that does not exist. */
class UsageError extends Error {}

function oneOf<Word extends string>(what: string, words: readonly Word[], given: string): Word {
  const word = words.find((candidate) => candidate === given)
  if (word === undefined) throw new UsageError(`${what} must be one of ${words.join(', ')}, not ${given}`)
  return word
}

function currentUser(): CorpusUser {
  return process.getuid?.() === 0 ? 'root' : 'user'
}

function errandOf(args: readonly string[]): Errand {
  const { values } = parseArgs({
    args: [...args],
    options: {
      backend: { type: 'string', default: 'bwrap' },
      user: { type: 'string', default: currentUser() },
      provider: { type: 'string', default: 'local' },
      case: { type: 'string', multiple: true, default: ['all'] },
      kernel: { type: 'string' },
      leak: { type: 'string' },
    },
  })
  if (!isProviderName(values.provider)) {
    throw new UsageError(`--provider must be one of ${PROVIDER_NAMES.join(', ')}, not ${values.provider}`)
  }
  const backend = oneOf('--backend', CORPUS_BACKENDS, values.backend)
  const user = oneOf('--user', CORPUS_USERS, values.user)
  return {
    backend,
    user,
    provider: values.provider,
    cases: chosenCases(values.case, backend, user),
    kernel: values.kernel === undefined ? undefined : oneOf('--kernel', KERNEL_NAMES, values.kernel),
    leak: values.leak,
  }
}

function chosenCases(
  ids: readonly string[],
  backend: CorpusBackend,
  user: CorpusUser,
): readonly CorpusCase[] {
  const corpus = loadCorpus()
  const unknown = ids.filter((id) => id !== 'all' && !corpus.some((one) => one.id === id))
  if (unknown.length > 0) throw new UsageError(`no such case: ${unknown.join(', ')}`)
  return corpus.filter(
    (one) => (ids.includes('all') || ids.includes(one.id)) && appliesTo(one, backend, user),
  )
}

function isFault(report: CaseReport): boolean {
  return report.outcome === 'fail' || (report.outcome === 'void' && report.lacks.length === 0)
}

function print(report: CaseReport): void {
  process.stdout.write(`${JSON.stringify(report)}\n`)
}

async function runHere(errand: Errand, leak: string): Promise<boolean> {
  return withCorpusBench({ ...errand, leak }, async (bench) => {
    let sound = true
    for (const one of errand.cases) {
      const report = await runCase(one, bench)
      print(report)
      sound &&= !isFault(report)
    }
    return sound
  })
}

async function runInChild(errand: Errand): Promise<boolean> {
  const { backend, user, provider, kernel } = errand
  const caseIds = errand.cases.map((one) => one.id)
  const main = fileURLToPath(import.meta.url)
  const reports = await runCorpus({ main, backend, user, provider, caseIds, kernel })
  reports.forEach(print)
  return !reports.some(isFault)
}

try {
  const errand = errandOf(process.argv.slice(2))
  const sound = errand.leak === undefined ? await runInChild(errand) : await runHere(errand, errand.leak)
  process.exitCode = sound ? 0 : 1
} catch (error) {
  if (!(error instanceof UsageError)) throw error
  process.stderr.write(`corpus: ${error.message}\n`)
  process.exitCode = 2
}
