/** The unconfined executor: `bash -c` as the harness's own user. */

import type { BashExecSpec, BashExecutor } from 'dsh-bash'
import { runResult, type RunnableCommand } from './command.ts'
import type { ConfigInput } from './config.ts'
import { childEnv } from './environment.ts'
import { createBashRunner } from './runner.ts'
import { bashArgv } from './script.ts'

/** @throws {TypeError} naming each setting at fault. */
export function createLocalBash(config?: ConfigInput): BashExecutor {
  const runner = createBashRunner(config)
  return {
    sandboxMode: undefined,
    resolve: runner.resolve,
    run: async (spec) => runResult(await runner.run(plainCommand(spec))),
    start: (spec) => runner.start(plainCommand(spec)),
    dispose: runner.dispose,
  }
}

function plainCommand(spec: BashExecSpec): RunnableCommand {
  return { argv: bashArgv(spec.command), env: childEnv(spec, process.env), spec }
}
