/** The Landlock launcher as TypeScript callers see it: where it lies, its options, and what it says. */

export {
  DENIABLE_CALLS,
  filtersCalls,
  LAUNCHER_FAILURE_STATUS,
  LAUNCHER_LINE_PREFIX,
  LAUNCHER_OPTIONS,
  type DeniableCalls,
} from './launcher.ts'
export { locateLauncher, type LauncherLocation } from './locate.ts'
export { parseProbe, type LandlockProbe } from './probe.ts'
