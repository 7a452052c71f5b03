/** The Landlock launcher as TypeScript callers see it: where it lies, its options, and what it says. */

export { LAUNCHER_FAILURE_STATUS, LAUNCHER_LINE_PREFIX, LAUNCHER_OPTIONS } from './launcher.ts'
export { locateLauncher, type LauncherLocation } from './locate.ts'
export { parseProbe, type LandlockProbe } from './probe.ts'
