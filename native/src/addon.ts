/**
 * Loads landlock.node, when it is first needed and not before: whoever imports this package for the launcher alone never
 * meets it. In: the place that locate.ts names. Out: its functions. Fails with LandlockError, step `locate-addon` or
 * `load-addon`.
 */

import { createRequire } from 'node:module'
import { constants } from 'node:os'
import { LandlockError, type LandlockStep } from './landlock-error.ts'
import type { LandlockTables } from './landlock-tables.ts'
import { locateAddon } from './locate.ts'

/** What native code says when a step does not work. */
export interface NativeFailure {
  readonly step: LandlockStep
  readonly errno: number
}

/** Owns a ruleset's descriptor; closes it when it is collected, or its thread ends. */
export interface RulesetHandle {
  readonly handle: unique symbol
}

/** binding.cc as TypeScript sees it. Wrong arguments are a TypeError. */
export interface Addon {
  probe(): { readonly abi: number; readonly errata: number } | NativeFailure
  tables(): LandlockTables
  createRuleset(fs: bigint, net: bigint, scoped: bigint): RulesetHandle | NativeFailure
  addPath(ruleset: RulesetHandle, path: Buffer, rights: bigint): NativeFailure | undefined
  addPort(ruleset: RulesetHandle, port: number, rights: bigint): NativeFailure | undefined
  restrictSelf(ruleset: RulesetHandle, flags: bigint): NativeFailure | undefined
  close(ruleset: RulesetHandle): undefined
}

const FUNCTIONS = ['probe', 'tables', 'createRuleset', 'addPath', 'addPort', 'restrictSelf', 'close']

/** A value that native code returns in place of a result. */
export function isNativeFailure(value: object): value is NativeFailure {
  return 'step' in value
}

function isAddon(loaded: unknown): loaded is Addon {
  return typeof loaded === 'object' && loaded !== null && FUNCTIONS.every((name) => name in loaded)
}

/** What Node says of its errors: a name, and for a system call's a negative number. */
function fieldsOf(error: unknown): { readonly code: string; readonly errno: number } {
  // Error does not declare them; both are looked at before they are used.
  const { code, errno } = (error instanceof Error ? error : {}) as { code?: unknown; errno?: unknown }
  return {
    code: typeof code === 'string' ? code : 'ERR_DLOPEN_FAILED',
    errno: typeof errno === 'number' ? Math.abs(errno) : 0,
  }
}

function load(path: string): unknown {
  try {
    return createRequire(import.meta.url)(path)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    const fields = { step: 'load-addon', ...fieldsOf(cause), path, cause } as const
    throw new LandlockError(`${path} cannot be loaded: ${why}`, fields)
  }
}

function loadAddon(): Addon {
  const found = locateAddon()
  if ('missing' in found) {
    const message = `${found.missing}: ${found.fix}`
    throw new LandlockError(message, { step: 'locate-addon', errno: constants.errno.ENOENT })
  }
  if ('unusable' in found) {
    const fields = { step: 'load-addon', errno: constants.errno.ENOEXEC, path: found.at } as const
    throw new LandlockError(`${found.detail}: ${found.fix}`, fields)
  }
  const loaded = load(found.path)
  if (isAddon(loaded)) return loaded
  const fields = { step: 'load-addon', errno: 0, code: 'ERR_DLOPEN_FAILED', path: found.path } as const
  throw new LandlockError(`${found.path} is not the binding that this package was made with`, fields)
}

let loadedAddon: { readonly addon: Addon; readonly tables: LandlockTables } | undefined

/** The binding and its tables. A failure is not remembered: a file that is put right is found by the next call. */
export function useAddon(): { readonly addon: Addon; readonly tables: LandlockTables } {
  if (loadedAddon === undefined) {
    const addon = loadAddon()
    loadedAddon = { addon, tables: addon.tables() }
  }
  return loadedAddon
}
