/** The sandboxed bash executor, as a library and as a plugin that registers `ctx.bash` and `ctx.shell`. */

import { createBashRunner } from 'dsh-bash-local'
import type { SandboxProvider } from 'dsh-sandbox'
import { Config, localConfig, type SandboxedBashConfig } from './config.ts'
import { SandboxedBashExecutor } from './executor.ts'

export { Config, type SandboxedBashConfig, type SandboxedBashConfigInput } from './config.ts'
export { createSandboxedBash, type PolicyOptions, type SandboxedBashOptions } from './create.ts'
export { SandboxedBashExecutor, type ArgvRequest, type PassedResult, type SandboxedBash } from './executor.ts'

/** What the plugin needs of a host's context. */
export interface PluginContext {
  readonly sandbox: SandboxProvider
  provide(name: string, value: unknown): unknown
}

export const name = 'dsh-bash-sandbox'
export const inject: readonly string[] = ['sandbox']
export { apply }

/** Registers one executor under both names of the seam. Returns the disposer. */
function apply(context: PluginContext, config: SandboxedBashConfig): () => Promise<void> {
  const { mode, workspaceRoot } = config
  const executor = new SandboxedBashExecutor(createBashRunner(localConfig(config)), context.sandbox, {
    mode,
    workspaceRoot,
  })
  context.provide('bash', executor)
  context.provide('shell', executor)
  return () => executor.dispose()
}

export default { name, inject, Config, apply }
