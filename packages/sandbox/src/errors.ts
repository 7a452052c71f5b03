/** The two ways a call can be refused before anything runs. Codes are promised; wording of details is not. */

import type { SandboxMode } from './modes.ts'

export const SANDBOX_UNAVAILABLE = 'SANDBOX_UNAVAILABLE'
export const SANDBOX_POLICY_REFUSED = 'SANDBOX_POLICY_REFUSED'

/**
 * A confined mode was asked for and nothing on this host can enforce it; the command did not run.
 * The sentence is the one that the harness family prints, so that its readers recognise it.
 */
export class SandboxUnavailableError extends Error {
  override readonly name = 'SandboxUnavailableError'
  readonly code = SANDBOX_UNAVAILABLE
  /** The mode that was asked for. */
  readonly mode: SandboxMode
  /** Why, in one line for a person: the same text as the message without the detail. */
  readonly reason: string
  /** What failed and how to mend it: each backend's failed step, or the runner's own fatal line. */
  readonly detail: string | undefined

  constructor(mode: SandboxMode, detail?: string, options?: ErrorOptions) {
    const reason =
      `sandbox mode "${mode}" is requested but no sandbox backend is usable on this host; refusing to run the command ` +
      'unconfined. Install bubblewrap or run a Landlock-enforcing kernel (Linux), ensure sandbox-exec is usable ' +
      '(macOS), or ensure the ACL restricted-token runner can start (Windows) — otherwise switch the consumer to ' +
      'danger-full-access.'
    super(detail === undefined ? reason : `${reason} Runner failure: ${detail}`, options)
    this.mode = mode
    this.reason = reason
    this.detail = detail
  }
}

/** Which rule of a policy was broken. */
export type SandboxPolicyRule =
  | 'root-not-absolute'
  | 'root-missing'
  | 'root-not-directory'
  | 'root-unreadable'
  | 'root-is-filesystem-root'
  | 'root-is-kernel-filesystem'
  | 'root-holds-home'
  | 'root-holds-private-state'
  | 'root-changed'
  | 'workdir-hidden'
  | 'not-enforceable'
  | 'effect-open'

/** A policy that must not or cannot be enforced as it stands. The backend is not at fault; the command did not run. */
export class SandboxPolicyError extends Error {
  override readonly name = 'SandboxPolicyError'
  readonly code = SANDBOX_POLICY_REFUSED
  readonly rule: SandboxPolicyRule
  /** The path or policy field at fault. */
  readonly subject: string

  constructor(rule: SandboxPolicyRule, subject: string, message: string, options?: ErrorOptions) {
    super(message, options)
    this.rule = rule
    this.subject = subject
  }
}
