/** The sandbox provider for this host, as a library and as a plugin that registers `ctx.sandbox`. */

import { Config, type ProviderConfig } from './config.ts'
import { createLocalSandboxProvider } from './provider.ts'

export {
  Config,
  BACKEND_CHOICES,
  type BackendChoice,
  type ProviderConfig,
  type ProviderConfigInput,
} from './config.ts'
export type { BackendFailure, BackendReport } from './failure.ts'
export { createLocalSandboxProvider, type LocalSandboxProvider } from './provider.ts'

/** What the plugin needs of a host's context. */
export interface PluginContext {
  provide(name: string, value: unknown): unknown
}

export const name = 'dsh-sandbox-local'
export const inject: readonly string[] = []
export { apply }

/** Probes first and registers then, so that `confine()` is ready for whoever finds the service. Returns the disposer. */
async function apply(context: PluginContext, config: ProviderConfig): Promise<() => Promise<void>> {
  const provider = createLocalSandboxProvider(config)
  await provider.ready()
  context.provide('sandbox', provider)
  return () => provider.dispose()
}

export default { name, inject, Config, apply }
