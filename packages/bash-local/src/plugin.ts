/** The executor as a plugin of a harness, which is known here only by the one method that is used. */

import { Config, type ConfigInput } from './config.ts'
import { createLocalBash } from './local-bash.ts'

export interface PluginContext {
  provide(name: string, value: unknown): unknown
}

export const plugin = {
  name: 'dsh-bash-local',
  inject: [] as const,
  Config,
  /** Registers one executor under both names of the seam. Returns its disposal. */
  apply(ctx: PluginContext, config?: ConfigInput): () => Promise<void> {
    const executor = createLocalBash(config)
    ctx.provide('bash', executor)
    ctx.provide('shell', executor)
    return () => executor.dispose()
  },
}
