/** Why a profile cannot be used. */

/** A profile that is unknown, unreadable or says something it may not. The message is one line for a person. */
export class ProfileError extends Error {
  override readonly name = 'ProfileError'
  readonly code = 'SANDBOX_PROFILE_INVALID'
  /** The profile's name, or its file as spelled. */
  readonly profile: string

  constructor(profile: string, fault: string, options?: ErrorOptions) {
    super(`profile ${JSON.stringify(profile)} ${fault}`, options)
    this.profile = profile
  }
}
