/**
 * What a profile may say. A key that is not listed is refused, since a restriction that is read and not enforced would
 * be a silent gap. `schema.json` beside the profiles is this schema for editors; a test keeps the two equal.
 */

import { isConfinedMode, SANDBOX_EFFECTS, SANDBOX_MODES } from 'dsh-sandbox'
import { z } from 'zod'

/** The longest delay that a timer of the runtime can hold, in milliseconds (2^31 - 1: about 24.8 days). */
export const LONGEST_TIMEOUT_MS = 2_147_483_647

/**
 * The modes of a profile. It only ever confines: `danger-full-access` is for a person to spell out on the command
 * line, never for a file that arrives with a repository.
 */
const PROFILE_MODES = SANDBOX_MODES.filter(isConfinedMode)

export const profileSchema = z.strictObject({
  description: z.string().optional().describe('For people; nothing reads it.'),
  mode: z.enum(PROFILE_MODES).describe('Which files may be changed.'),
  tmp: z
    .literal('private')
    .optional()
    .describe('The host /tmp is out of reach; the command has a temp of its own.'),
  env: z.literal('scrubbed').optional().describe('Credentials are taken out of the inherited environment.'),
  requires: z
    .array(z.enum(SANDBOX_EFFECTS))
    .optional()
    .describe('Effects that must be enforced; where one is open, nothing runs.'),
  timeoutMs: z
    .int()
    .min(1)
    .max(LONGEST_TIMEOUT_MS)
    .optional()
    .describe('Wall-clock limit of one command, in milliseconds. Absent: the profile sets no limit.'),
})

/** One profile. Absent `tmp` and `env` mean the only value that they can have. */
export type SandboxProfile = Readonly<z.infer<typeof profileSchema>>

/** The schema's rules in words, for messages. */
const ALLOWED = {
  description: 'any text',
  mode: PROFILE_MODES.join(', '),
  tmp: 'private',
  env: 'scrubbed',
  requires: `a list of ${SANDBOX_EFFECTS.join(', ')}`,
  timeoutMs: `a whole number of milliseconds from 1 to ${LONGEST_TIMEOUT_MS}`,
} as const satisfies Readonly<Record<keyof SandboxProfile, string>>

/** What is wrong with `value` as a profile, in words for the end of a sentence; undefined when nothing is. */
export function profileFault(value: unknown): string | undefined {
  const issue = profileSchema.safeParse(value).error?.issues[0]
  if (issue === undefined) return undefined
  if (issue.code === 'unrecognized_keys') return unknownKeyFault(issue.keys)
  const rule = Object.entries(ALLOWED).find(([key]) => key === issue.path[0])
  return rule === undefined ? 'is not a JSON object' : valueFault(...rule, value)
}

function unknownKeyFault(keys: readonly string[]): string {
  const names = keys.map((key) => JSON.stringify(key)).join(', ')
  return `has the unknown key ${names}; allowed: ${Object.keys(ALLOWED).join(', ')}`
}

function valueFault(key: string, allowed: string, profile: unknown): string {
  const given = Object.entries(Object(profile)).find(([name]) => name === key)
  return given === undefined
    ? `lacks the key "${key}"; allowed: ${allowed}`
    : `has ${JSON.stringify(given[1])} as "${key}"; allowed: ${allowed}`
}
