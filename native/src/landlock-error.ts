/** What the binding throws when the kernel, or loading the binding, says no. */

import { constants } from 'node:os'
import type { Missing } from './ruleset-plan.ts'

/**
 * Where it failed. `locate-addon` and `load-addon`: there is no usable binding, which says nothing about the kernel.
 * `compatibility`: the running kernel's ABI is too low for what was asked. The others are the steps of native code.
 */
export type LandlockStep =
  | 'locate-addon'
  | 'load-addon'
  | 'create-ruleset'
  | 'compatibility'
  | 'open-path'
  | 'add-rule'
  | 'no-new-privs'
  | 'restrict-self'

/** Names that share a number with the one that landlock(7) uses. */
const ALIASES: readonly string[] = ['ENOTSUP', 'EWOULDBLOCK']

/** errno(3) as Node knows it, and the one number that Landlock uses beyond that. */
const ERRNO_NAMES: ReadonlyMap<number, string> = new Map([
  [77, 'EBADFD'],
  ...Object.entries(constants.errno)
    .filter(([name]) => !ALIASES.includes(name))
    .map(([name, number]) => [number, name] as const),
])

/** `ENOSYS` for 38; `E` and the number for one that has no name here. */
export function errnoName(errno: number): string {
  return ERRNO_NAMES.get(errno) ?? `E${errno}`
}

export interface LandlockErrorFields {
  readonly step: LandlockStep
  readonly errno: number
  /** Where it is not the name of `errno`. */
  readonly code?: string | undefined
  readonly path?: string | undefined
  readonly missing?: readonly Missing[] | undefined
  readonly cause?: unknown
}

/** `step`, `errno` and `code` are promised; the wording is not. */
export class LandlockError extends Error {
  override readonly name = 'LandlockError'
  readonly step: LandlockStep
  /** A number of errno(3); ENOEXEC for a file that cannot be a binding, 0 where only the loader could tell. */
  readonly errno: number
  /** The name of `errno`; where only the loader could tell, Node's own code, `ERR_DLOPEN_FAILED`. */
  readonly code: string
  /** The path that the step was about, as given; bytes that are no UTF-8 are shown as U+FFFD. */
  readonly path?: string
  /** For `compatibility`: what the kernel lacks. */
  readonly missing?: readonly Missing[]

  constructor(message: string, fields: LandlockErrorFields) {
    super(message, fields.cause === undefined ? undefined : { cause: fields.cause })
    this.step = fields.step
    this.errno = fields.errno
    this.code = fields.code ?? errnoName(fields.errno)
    if (fields.path !== undefined) this.path = fields.path
    if (fields.missing !== undefined) this.missing = fields.missing
  }
}
