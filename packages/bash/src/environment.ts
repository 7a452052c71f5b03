/** The `DSH_*` namespace: facts that the harness states about itself to a child process. */

export const DSH_ENV_PREFIX = 'DSH_'

export type DshEnvironmentKey = `${typeof DSH_ENV_PREFIX}${string}`

/** One call's snapshot of harness facts. Nothing of it is inherited from the harness's own environment. */
export type DshEnvironment = Readonly<Record<DshEnvironmentKey, string>>

/** True for names of the managed namespace, in any case: an environment may be read without regard to case. */
export function isDshName(name: string): boolean {
  return name.toUpperCase().startsWith(DSH_ENV_PREFIX)
}
