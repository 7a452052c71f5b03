/** The sandboxed bash executor, as a library and as a plugin. */

export { Config, type SandboxedBashConfig, type SandboxedBashConfigInput } from './config.ts'
export { createSandboxedBash, type PolicyOptions, type SandboxedBashOptions } from './create.ts'
export { SandboxedBashExecutor, type ArgvRequest, type PassedResult, type SandboxedBash } from './executor.ts'
export { plugin, plugin as default, type PluginContext } from './plugin.ts'
