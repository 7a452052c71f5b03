/** The sandbox provider for this host, as a library and as a plugin. */

export {
  Config,
  BACKEND_CHOICES,
  type BackendChoice,
  type ProviderConfig,
  type ProviderConfigInput,
} from './config.ts'
export type { BackendFailure, BackendReport, LauncherFault } from './failure.ts'
export { createLocalSandboxProvider, type BackendProof, type LocalSandboxProvider } from './provider.ts'
export type { EffectProof } from './self-test/proof.ts'
export type { ModeProof } from './self-test/self-test.ts'

export { plugin, plugin as default, type PluginContext } from './plugin.ts'
