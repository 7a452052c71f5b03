/**
 * The names of Landlock's rights, scopes and flags as types, and what native code tells about each.
 *
 * When a right came and what it is called for the kernel stands once, in landlock_abi.h. The lists of names here are for
 * the type checker; a test holds them against that file.
 */

/** LANDLOCK_ACCESS_FS_*, in lower case. What each covers: landlock(7), "Filesystem actions". */
export const FS_RIGHTS = [
  'execute',
  'write_file',
  'read_file',
  'read_dir',
  'remove_dir',
  'remove_file',
  'make_char',
  'make_dir',
  'make_reg',
  'make_sock',
  'make_fifo',
  'make_block',
  'make_sym',
  'refer',
  'truncate',
  'ioctl_dev',
  'resolve_unix',
] as const
export type FsRight = (typeof FS_RIGHTS)[number]

/** LANDLOCK_ACCESS_NET_*, in lower case. */
export const NET_RIGHTS = ['bind_tcp', 'connect_tcp', 'bind_udp', 'connect_send_udp'] as const
export type NetRight = (typeof NET_RIGHTS)[number]

/** LANDLOCK_SCOPE_*, in lower case. */
export const SCOPES = ['abstract_unix_socket', 'signal'] as const
export type Scope = (typeof SCOPES)[number]

/** LANDLOCK_RESTRICT_SELF_*, in lower case. */
export const RESTRICT_SELF_FLAGS = [
  'log_same_exec_off',
  'log_new_exec_on',
  'log_subdomains_off',
  'tsync',
  'no_new_privs',
] as const
export type RestrictSelfFlag = (typeof RESTRICT_SELF_FLAGS)[number]

/** LANDLOCK_ADD_RULE_*, in lower case. */
export const ADD_RULE_FLAGS = ['quiet'] as const
export type AddRuleFlag = (typeof ADD_RULE_FLAGS)[number]

/** One bit of the kernel's, and the first ABI that has it. */
export interface TableRow<Name extends string = string> {
  readonly name: Name
  readonly abi: number
  readonly bit: bigint
}

export interface FsRow extends TableRow<FsRight> {
  /** A rule on anything but a directory must not carry it (EINVAL, landlock_add_rule(2)). */
  readonly directoryOnly: boolean
}

/** landlock_abi.h as a value. */
export interface LandlockTables {
  /** Every ABI that is known here, lowest first, and the first Linux release that has it. */
  readonly releases: readonly { readonly abi: number; readonly kernel: string }[]
  readonly fs: readonly FsRow[]
  readonly net: readonly TableRow<NetRight>[]
  readonly scopes: readonly TableRow<Scope>[]
  readonly restrictSelfFlags: readonly TableRow<RestrictSelfFlag>[]
  readonly addRuleFlags: readonly TableRow<AddRuleFlag>[]
}

/** What an ABI has, by the kernel's own names in lower case, in the order of their bits. */
export interface LandlockFeatures {
  /** The ABI this is about: the one asked for, or the highest known here when that is lower. */
  readonly abi: number
  readonly fs: readonly FsRight[]
  /** Those of `fs` that a rule on something else than a directory may carry. */
  readonly fsOnFiles: readonly FsRight[]
  readonly net: readonly NetRight[]
  readonly scopes: readonly Scope[]
  /** `tsync` is `allThreads` of `Ruleset.restrictSelf`. */
  readonly restrictSelfFlags: readonly RestrictSelfFlag[]
  /** The kernel has them; `Ruleset` does not use them. */
  readonly addRuleFlags: readonly AddRuleFlag[]
}

/** The highest ABI in the tables. */
export function highestAbi(tables: LandlockTables): number {
  return Math.max(...tables.releases.map(({ abi }) => abi))
}

/** The first Linux release with an ABI. */
export function kernelOf(tables: LandlockTables, abi: number): string {
  const release = tables.releases.find((candidate) => candidate.abi === abi)
  if (release === undefined) throw new Error(`no release is known for ABI ${abi}`)
  return release.kernel
}

function namesUpTo<Name extends string>(rows: readonly TableRow<Name>[], abi: number): readonly Name[] {
  return rows.filter((row) => row.abi <= abi).map(({ name }) => name)
}

/** A future ABI is taken for the highest that is known here. */
export function featuresOf(tables: LandlockTables, asked: number): LandlockFeatures {
  const abi = Math.min(asked, highestAbi(tables))
  return {
    abi,
    fs: namesUpTo(tables.fs, abi),
    fsOnFiles: namesUpTo(
      tables.fs.filter(({ directoryOnly }) => !directoryOnly),
      abi,
    ),
    net: namesUpTo(tables.net, abi),
    scopes: namesUpTo(tables.scopes, abi),
    restrictSelfFlags: namesUpTo(tables.restrictSelfFlags, abi),
    addRuleFlags: namesUpTo(tables.addRuleFlags, abi),
  }
}
