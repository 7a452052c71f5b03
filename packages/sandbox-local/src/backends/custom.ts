/** An operator's own runner: it gets bubblewrap's arguments and is held to the same probe. */

import type { RunnerFailureRule } from 'dsh-sandbox'
import { inEveryMode } from '../effects.ts'
import type { HostFacts } from '../host.ts'
import type { Backend } from './backend.ts'
import { bwrapProfile, bwrapView, descriptorCloser } from './bwrap.ts'

/** `runnerCommand`, a bubblewrap-shaped profile, `--`, and the command behind what closes descriptors for it. */
export function customBackend(runnerCommand: readonly string[], host: HostFacts): Backend {
  return {
    backend: 'custom',
    // What the program does with its profile is the operator's to say; it is probed, not described.
    statements: inEveryMode({ enforcement: 'full', effects: undefined, closedEverywhere: [] }),
    signalsReachHost: true,
    runners: runnerCommand.slice(0, 1),
    launcher: undefined,
    reportsStatus: false,
    wrap: (argv, policy) => [
      ...runnerCommand,
      ...bwrapProfile(policy, host),
      '--',
      ...descriptorCloser(argv),
    ],
    view: bwrapView,
  }
}

/** The operator's words for "the runner failed before the command started". */
export function customFailure(signatures: readonly string[]): RunnerFailureRule {
  return { fatalSignatures: signatures, soleOutput: true }
}
