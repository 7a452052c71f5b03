/**
 * A Landlock ruleset: what is to be denied, exceptions from that, and binding the calling thread to it.
 * ruleset-plan.ts decides, native code acts; this file keeps the state between the two and words the failures.
 */

import { isNativeFailure, useAddon, type Addon, type NativeFailure, type RulesetHandle } from './addon.ts'
import { kernelSupport } from './kernel.ts'
import { errnoName, LandlockError } from './landlock-error.ts'
import type { FsRight, LandlockTables, NetRight, RestrictSelfFlag, Scope } from './landlock-tables.ts'
import {
  describeMissing,
  planFlags,
  planRule,
  planRuleset,
  type Missing,
  type RulesetPlan,
} from './ruleset-plan.ts'
import { constants } from 'node:os'

/** What a ruleset restricts. What is not named here stays allowed, whatever rules say. */
export interface RulesetOptions {
  /** File rights that are denied except where `allowPath` grants them. Files that are open already stay usable. */
  readonly handledAccessFs?: readonly FsRight[] | undefined
  /** Network rights that are denied except where `allowNetPort` grants them. */
  readonly handledAccessNet?: readonly NetRight[] | undefined
  /** What may not reach processes outside. There are no exceptions from a scope. */
  readonly scoped?: readonly Scope[] | undefined
  /**
   * What happens with names that the running kernel does not know. `strict`, the default: the constructor throws and names
   * them. `best-effort`: they are left out, and `dropped` names them; what it says is then not denied.
   */
  readonly compatibility?: 'best-effort' | 'strict' | undefined
}

/** The flags that only change what the kernel writes into its audit log (ABI 7). */
export type LogFlag = Extract<RestrictSelfFlag, `log_${string}`>

export interface RestrictSelfOptions {
  /** Bind every thread of the process, at once. Needs ABI 8 (Linux 7.0); throws where the kernel has less. */
  readonly allThreads?: boolean | undefined
  /** Treated by `compatibility` like rights. */
  readonly log?: readonly LogFlag[] | undefined
}

type State = 'open' | 'in force' | 'closed'

/** `strict` where nothing is said: a missing word must not leave something open. */
function isStrict(compatibility: RulesetOptions['compatibility']): boolean {
  switch (compatibility) {
    case undefined:
    case 'strict':
      return true
    case 'best-effort':
      return false
    default:
      throw new TypeError(`compatibility is 'best-effort' or 'strict', not ${JSON.stringify(compatibility)}`)
  }
}

function lacking(missing: readonly Missing[], abi: number): LandlockError {
  return new LandlockError(`the kernel's Landlock ABI is ${abi}, which lacks ${describeMissing(missing)}`, {
    step: 'compatibility',
    errno: constants.errno.EOPNOTSUPP,
    missing,
  })
}

function failed(failure: NativeFailure, path?: string, hint?: string): LandlockError {
  const about = path === undefined ? '' : ` ${JSON.stringify(path)}`
  const why = hint === undefined ? '' : ` (${hint})`
  return new LandlockError(`${failure.step}${about}: ${errnoName(failure.errno)}${why}`, { ...failure, path })
}

function createHint({ errno }: NativeFailure): string | undefined {
  return errno === constants.errno.ENOMSG ? 'nothing is left to restrict' : undefined
}

/** Bytes for the kernel. A name with a NUL in it names no file. */
function pathBytes(path: string | Uint8Array): Buffer {
  const bytes = typeof path === 'string' ? Buffer.from(path) : Buffer.from(path)
  if (bytes.includes(0)) throw new TypeError('a path cannot hold a NUL')
  return bytes
}

/**
 * Denies what it handles, but for what its rules allow, once `restrictSelf` is called. That cannot be undone, and stacks:
 * later rulesets only take away.
 *
 * The constructor throws LandlockError: `locate-addon` or `load-addon` without a usable binding, `create-ruleset` with
 * ENOSYS, EOPNOTSUPP or EPERM without Landlock, and with ENOMSG when nothing is handled (also when `best-effort` has
 * dropped everything: a ruleset that restricts nothing is never made), `compatibility` when `strict`.
 *
 * The ruleset is a file descriptor, which is not inherited by programs. `restrictSelf` and `close` close it; otherwise it
 * goes when the object is collected.
 */
export class Ruleset {
  /** What was asked for and this kernel lacks: names, and the kernel that brings each. Empty when `strict`. */
  get dropped(): readonly Missing[] {
    return this.#dropped
  }

  readonly #addon: Addon
  readonly #tables: LandlockTables
  readonly #abi: number
  readonly #handle: RulesetHandle
  readonly #plan: RulesetPlan
  readonly #strict: boolean
  readonly #fs: readonly FsRight[]
  readonly #net: readonly NetRight[]
  #dropped: readonly Missing[]
  #state: State = 'open'

  constructor(options: RulesetOptions) {
    const { addon, tables } = useAddon()
    this.#addon = addon
    this.#tables = tables
    this.#abi = kernelSupport().abi
    this.#strict = isStrict(options.compatibility)
    this.#fs = [...(options.handledAccessFs ?? [])]
    this.#net = [...(options.handledAccessNet ?? [])]
    this.#plan = planRuleset(tables, this.#abi, options)
    this.#dropped = this.#plan.missing
    if (this.#strict && this.#dropped.length > 0) throw lacking(this.#dropped, this.#abi)
    const created = addon.createRuleset(this.#plan.fs, this.#plan.net, this.#plan.scoped)
    if (isNativeFailure(created)) throw failed(created, undefined, createHint(created))
    this.#handle = created
  }

  /**
   * Allows rights at `path`, and beneath it when it is a directory. The path is followed through symbolic links now, and
   * the rule stays with what was found there. Rights that `best-effort` has dropped are left out.
   *
   * Throws LandlockError with `path`: `open-path` as open(2) does; `add-rule` with EINVAL when `path` is no directory
   * and a right is one that only directories have (see `features().fsOnFiles`): nothing is left out of such a rule in
   * silence, since half a rule is seldom what was meant; with EBADFD for a pipe or a socket that has no place among
   * files; with EBADF once the ruleset is closed or in force. A right that is not handled, or no right, is a TypeError.
   */
  allowPath(path: string | Uint8Array, rights: readonly FsRight[]): this {
    const bits = planRule(this.#tables.fs, rights, this.#fs, this.#plan.fs)
    const bytes = pathBytes(path)
    const shown = bytes.toString()
    this.#mustBeOpen(shown)
    const failure = this.#addon.addPath(this.#handle, bytes, bits)
    if (failure !== undefined) throw failed(failure, shown, this.#hint(failure, rights))
    return this
  }

  /**
   * Allows network rights for a port, 0 to 65535. Port 0 with a `bind_` right is for ports that the kernel picks.
   *
   * Throws LandlockError `add-rule`: EAFNOSUPPORT on a kernel without TCP/IP, where nothing can be reached anyway;
   * EBADF once the ruleset is closed or in force. A right that is not handled, no right or no port is a TypeError.
   */
  allowNetPort(port: number, rights: readonly NetRight[]): this {
    if (!Number.isInteger(port) || port < 0 || port > 65535) {
      throw new TypeError(`a port is an integer from 0 to 65535, not ${port}`)
    }
    const bits = planRule(this.#tables.net, rights, this.#net, this.#plan.net)
    this.#mustBeOpen()
    const failure = this.#addon.addPort(this.#handle, port, bits)
    if (failure !== undefined) throw failed(failure)
    return this
  }

  /**
   * Puts the ruleset in force for **the calling thread alone**, and for the threads and processes that it makes from
   * now on. Irrevocable. Sets no_new_privs, which stays set even when the rest fails.
   *
   * **WARNING: a Node process has other threads, and without `allThreads` they stay as free as before.** Once anything
   * has used libuv's thread pool (`fs.promises`, callbacks of `fs`, `dns.lookup`, `zlib`, `crypto`), its threads are
   * there, and every later asynchronous file operation of *this* thread runs on them, **unrestricted**. Loading an ES
   * module is enough for that (seen: Node 20), so this package's own import may be. Workers that have been
   * started stay free too.
   * Only what the calling thread does itself (`fs.readFileSync`) is bound, and what it starts.
   * Without `allThreads` this is no sandbox for JavaScript in the same process; it is for a process that restricts
   * itself and then starts, by itself, what is to be confined. To confine a command, use the launcher, which has one
   * thread.
   *
   * `allThreads` binds all threads of the process at once, from ABI 8 on (Linux 7.0); it also replaces restrictions
   * that other threads had taken on for themselves. On a lower ABI it throws LandlockError `compatibility` under both
   * kinds of compatibility, and binds nobody.
   * Source: landlock_restrict_self(2), and linux/landlock.h of 7.3 on LANDLOCK_RESTRICT_SELF_TSYNC.
   *
   * Throws LandlockError: `no-new-privs`; `restrict-self` with E2BIG from the 17th layer on, EBADF when the ruleset is
   * closed or in force. The descriptor is closed when it has worked; when not, it is open and nothing is in force.
   */
  restrictSelf(options: RestrictSelfOptions = {}): void {
    this.#mustBeOpen(undefined, 'restrict-self')
    const log = planFlags(this.#tables, this.#abi, options.log ?? [])
    const threads = planFlags(this.#tables, this.#abi, options.allThreads === true ? ['tsync'] : [])
    const barred = this.#strict ? [...threads.missing, ...log.missing] : threads.missing
    if (barred.length > 0) throw lacking(barred, this.#abi)
    const failure = this.#addon.restrictSelf(this.#handle, log.bits | threads.bits)
    if (failure !== undefined) throw failed(failure)
    this.#dropped = [...this.#dropped, ...log.missing]
    this.#end('in force')
  }

  /** Closes the descriptor; nothing that is in force ends by it. May be called at any time, and again. */
  close(): void {
    if (this.#state === 'open') this.#end('closed')
  }

  #end(state: State): void {
    this.#addon.close(this.#handle)
    this.#state = state
  }

  #mustBeOpen(path?: string, step: 'add-rule' | 'restrict-self' = 'add-rule'): void {
    if (this.#state === 'open') return
    throw failed({ step, errno: constants.errno.EBADF }, path, `the ruleset is ${this.#state}`)
  }

  #hint(failure: NativeFailure, rights: readonly FsRight[]): string | undefined {
    if (failure.step !== 'add-rule' || failure.errno !== constants.errno.EINVAL) return undefined
    const ofDirectories = this.#tables.fs.filter((row) => row.directoryOnly && rights.includes(row.name))
    return ofDirectories.length === 0
      ? undefined
      : `it is no directory, and only one can be given ${ofDirectories.map(({ name }) => name).join(', ')}`
  }
}
