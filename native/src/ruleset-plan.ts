/**
 * Decides what a ruleset asks of a kernel. In: what the caller wants, the tables, an ABI. Out: bits for the kernel, and
 * what of the wish that ABI cannot fulfil. Pure; a name that is not in the tables is a TypeError.
 */

import {
  kernelOf,
  type FsRight,
  type LandlockTables,
  type NetRight,
  type RestrictSelfFlag,
  type Scope,
  type TableRow,
} from './landlock-tables.ts'

/** Something that was asked for and that the running kernel does not have. */
export interface Missing {
  readonly kind: 'fs' | 'net' | 'scope' | 'flag'
  readonly name: FsRight | NetRight | Scope | RestrictSelfFlag
  /** The first ABI that has it. */
  readonly abi: number
  /** The first Linux release with that ABI. */
  readonly kernel: string
  /**
   * What such acts meet on this kernel in a ruleset without it. `allowed`: nothing stops them. `denied`: only `refer`,
   * which ABI 1 denies everywhere and no rule can grant. `logged`: a flag that changes nothing but the audit log.
   * `other-threads-free`: `tsync`, which is never dropped.
   */
  readonly without: 'allowed' | 'denied' | 'logged' | 'other-threads-free'
}

/** What is to be restricted. Names that are left out stay allowed. */
export interface RulesetWish {
  readonly handledAccessFs?: readonly FsRight[] | undefined
  readonly handledAccessNet?: readonly NetRight[] | undefined
  readonly scoped?: readonly Scope[] | undefined
}

export interface RulesetPlan {
  readonly fs: bigint
  readonly net: bigint
  readonly scoped: bigint
  readonly missing: readonly Missing[]
}

/** A right that one ABI has always denied where it cannot handle it. Source: landlock(7), LANDLOCK_ACCESS_FS_REFER. */
const ALWAYS_DENIED = 'refer'

function without(kind: Missing['kind'], name: string): Missing['without'] {
  if (kind === 'flag') return name === 'tsync' ? 'other-threads-free' : 'logged'
  return name === ALWAYS_DENIED ? 'denied' : 'allowed'
}

/** The rows of names, each once. */
export function rowsNamed<Name extends string>(
  rows: readonly TableRow<Name>[],
  names: readonly Name[],
  what: string,
): readonly TableRow<Name>[] {
  return [...new Set(names)].map((name) => {
    const row = rows.find((candidate) => candidate.name === name)
    if (row === undefined) {
      throw new TypeError(
        `${JSON.stringify(name)} is no ${what}: ${rows.map((known) => known.name).join(', ')}`,
      )
    }
    return row
  })
}

const bitsOf = (rows: readonly TableRow[]) => rows.reduce((bits, { bit }) => bits | bit, 0n)

/** One kind of names: the bits an ABI has, and what it lacks. */
function split(
  tables: LandlockTables,
  abi: number,
  kind: Missing['kind'],
  rows: readonly TableRow<Missing['name']>[],
): { readonly bits: bigint; readonly missing: readonly Missing[] } {
  return {
    bits: bitsOf(rows.filter((row) => row.abi <= abi)),
    missing: rows
      .filter((row) => row.abi > abi)
      .map((row) => ({
        kind,
        name: row.name,
        abi: row.abi,
        kernel: kernelOf(tables, row.abi),
        without: without(kind, row.name),
      })),
  }
}

/** The fields of landlock_ruleset_attr for an ABI. */
export function planRuleset(tables: LandlockTables, abi: number, wish: RulesetWish): RulesetPlan {
  const fs = split(tables, abi, 'fs', rowsNamed(tables.fs, wish.handledAccessFs ?? [], 'file right'))
  const net = split(tables, abi, 'net', rowsNamed(tables.net, wish.handledAccessNet ?? [], 'network right'))
  const scoped = split(tables, abi, 'scope', rowsNamed(tables.scopes, wish.scoped ?? [], 'scope'))
  return {
    fs: fs.bits,
    net: net.bits,
    scoped: scoped.bits,
    missing: [...fs.missing, ...net.missing, ...scoped.missing],
  }
}

/** The flags of landlock_restrict_self for an ABI. */
export function planFlags(
  tables: LandlockTables,
  abi: number,
  names: readonly RestrictSelfFlag[],
): { readonly bits: bigint; readonly missing: readonly Missing[] } {
  return split(tables, abi, 'flag', rowsNamed(tables.restrictSelfFlags, names, 'flag'))
}

/**
 * The rights of one rule, cut down to `handled` bits. A right that the ruleset was not asked to handle is a mistake of
 * the caller, since it would grant what nobody denies; one that was asked for and dropped is left out.
 */
export function planRule<Name extends string>(
  rows: readonly TableRow<Name>[],
  rights: readonly Name[],
  asked: readonly Name[],
  handled: bigint,
): bigint {
  if (rights.length === 0) throw new TypeError('a rule needs at least one right')
  const named = rowsNamed(rows, rights, 'right')
  const stray = named.filter(({ name }) => !asked.includes(name)).map(({ name }) => name)
  if (stray.length > 0) throw new TypeError(`the ruleset does not handle ${stray.join(', ')}`)
  return bitsOf(named) & handled
}

/** `truncate (ABI 3, Linux 6.2), signal (ABI 6, Linux 6.12)` */
export function describeMissing(missing: readonly Missing[]): string {
  return missing.map(({ name, abi, kernel }) => `${name} (ABI ${abi}, Linux ${kernel})`).join(', ')
}
