/** The spawn core: runs commands with bounded output, deadlines and disposal, confined by nobody. */

export {
  AbortedBeforeSpawnError,
  runResult,
  STATUS_FD,
  type EndedCommand,
  type PassedCommand,
  type RunnableCommand,
} from './command.ts'
export { Config, resolveConfig, type ConfigInput, type ResolvedConfig } from './config.ts'
export { childEnv, ENV_OVERRIDES, SCRUB_RULES } from './environment.ts'
export { createLocalBash } from './local-bash.ts'
export { plugin, plugin as default, type PluginContext } from './plugin.ts'
export { createBashRunner, type BashRunner } from './runner.ts'
export { bashArgv } from './script.ts'
export { saysReady } from './status-channel.ts'
