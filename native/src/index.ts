/**
 * Landlock for TypeScript callers: the launcher (where it lies, its options, and what it says), and the binding, which
 * asks the kernel and restricts the calling thread. Importing this loads no native code; the binding's functions do.
 */

export {
  DENIABLE_CALLS,
  filtersCalls,
  LAUNCHER_FAILURE_STATUS,
  LAUNCHER_LINE_PREFIX,
  LAUNCHER_OPTIONS,
  type DeniableCalls,
} from './launcher.ts'
export { locateAddon, locateLauncher, type Location, type Unusable } from './locate.ts'
export { parseProbe, type LandlockProbe } from './probe.ts'

export { abi, errata, features, probe, type LandlockSupport } from './kernel.ts'
export { LandlockError, type LandlockStep } from './landlock-error.ts'
export type {
  AddRuleFlag,
  FsRight,
  LandlockFeatures,
  NetRight,
  RestrictSelfFlag,
  Scope,
} from './landlock-tables.ts'
export { Ruleset, type LogFlag, type RestrictSelfOptions, type RulesetOptions } from './ruleset.ts'
export type { Missing } from './ruleset-plan.ts'
