/** Suites that an implementation joins, and the corpus. */

export { CORPUS_BACKENDS, loadCorpus, type CorpusBackend, type CorpusCase } from './corpus.ts'
export {
  describeBashExecutor,
  EXECUTOR_CHECKS,
  type ExecutorBench,
  type ExecutorCheck,
  type ExecutorOptions,
  type ExecutorTraits,
  type MakeExecutor,
} from './executor-conformance.ts'
export { makeProvider, PROVIDER_NAMES, type ProviderName } from './leaky-providers.ts'
export {
  describeSandboxProvider,
  PROVIDER_CHECKS,
  type ProviderBench,
  type ProviderCheck,
} from './provider-conformance.ts'
