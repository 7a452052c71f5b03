/** The executor as a plugin of a harness, which is known here only by what is used of it. */

import { createBashRunner } from 'dsh-bash-local'
import type { SandboxProvider } from 'dsh-sandbox'
import { Config, localConfig, type SandboxedBashConfig } from './config.ts'
import { SandboxedBashExecutor } from './executor.ts'

export interface PluginContext {
  readonly sandbox: SandboxProvider
  provide(name: string, value: unknown): unknown
}

export const plugin = {
  name: 'dsh-bash-sandbox',
  inject: ['sandbox'] as const,
  Config,
  /**
   * Registers one executor under both names of the seam. Returns its disposal. A method and not a function: a host calls
   * what has a prototype with `new`, and drops what it returns.
   */
  apply(context: PluginContext, config: SandboxedBashConfig): () => Promise<void> {
    const { mode, workspaceRoot } = config
    const runner = createBashRunner(localConfig(config))
    const executor = new SandboxedBashExecutor(runner, context.sandbox, { mode, workspaceRoot })
    context.provide('bash', executor)
    context.provide('shell', executor)
    return () => executor.dispose()
  },
}
