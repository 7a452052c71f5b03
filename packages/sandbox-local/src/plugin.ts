/** The provider as a plugin of a harness, which is known here only by the one method that is used. */

import { Config, type ProviderConfigInput } from './config.ts'
import { createLocalSandboxProvider } from './provider.ts'

export interface PluginContext {
  provide(name: string, value: unknown): unknown
}

export const plugin = {
  name: 'dsh-sandbox-local',
  inject: [] as const,
  Config,
  /**
   * Probes first and registers then, so that `confine()` is ready for whoever finds the service. Returns its disposal. A
   * method and not a function: a host calls what has a prototype with `new`, and drops what it returns.
   */
  async apply(context: PluginContext, config?: ProviderConfigInput): Promise<() => Promise<void>> {
    const provider = createLocalSandboxProvider(config)
    await provider.ready()
    context.provide('sandbox', provider)
    return () => provider.dispose()
  },
}
