/** The sandbox provider for this host, as a library and as a plugin. */

export {
  Config,
  BACKEND_CHOICES,
  type BackendChoice,
  type ProviderConfig,
  type ProviderConfigInput,
} from './config.ts'
export type { BackendFailure, BackendReport } from './failure.ts'
export { createLocalSandboxProvider, type LocalSandboxProvider } from './provider.ts'

export { plugin, plugin as default, type PluginContext } from './plugin.ts'
