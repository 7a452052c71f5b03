/** Branded ids: strings that the type checker keeps apart. They cost nothing at run time. */

declare const brand: unique symbol

/** A string that only its own maker may produce. */
export type Branded<Name extends string> = string & { readonly [brand]: Name }

/** Names one background task, `bash-N` as the task runtime generates it. */
export type BashTaskId = Branded<'BashTaskId'>

/**
 * Whose background task it is. Stored and compared, never interpreted: this seam must not know what an owner is, so
 * the one consumer that does makes the token from its own session id.
 */
export type OwnerToken = Branded<'OwnerToken'>

/** The `ordinal`th task id, counted from 1. */
export function bashTaskId(ordinal: number): BashTaskId {
  // The brand exists only in types; this function is its maker.
  return `bash-${ordinal}` as BashTaskId
}

/** Makes an owner token from any stable string. */
export function ownerToken(value: string): OwnerToken {
  // As above: the maker of the brand.
  return value as OwnerToken
}
