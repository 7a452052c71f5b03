/**
 * The settings of a runner: a strict zod schema (zod implements Standard Schema, so a plugin host can read it too).
 * In goes what an operator wrote, out comes {@link ResolvedConfig}. Every fault names its key.
 */

import { isAbsolute } from 'node:path'
import { z } from 'zod'

/** Node's timers take a signed 32-bit count of milliseconds; anything above fires at once. Source: Node, `timers`. */
export const MAX_TIMER_MS = 2_147_483_647

const faultOf = (name: string, rule: string) => `bash-local: ${name} must be ${rule}`

const positive = (name: string) => {
  const error = faultOf(name, 'a positive finite number')
  return z.number({ error }).positive({ error })
}

const absolutePath = (name: string) => {
  const error = faultOf(name, 'an absolute path without NUL bytes')
  return z.string({ error }).refine((path) => isAbsolute(path) && !path.includes('\0'), { error })
}

/** What an operator may set. Absent keys take the defaults below. */
export const Config = z
  .strictObject(
    {
      /** Directory of commands that name none. */
      cwd: absolutePath('cwd').default(() => process.cwd()),
      /** Foreground timeout when the request names none, in milliseconds. */
      timeoutMs: positive('timeoutMs').default(120_000),
      /** Upper bound on the timeout of any request, in milliseconds. */
      maxTimeoutMs: positive('maxTimeoutMs').default(600_000),
      /** Bytes kept in memory per stream, counted before decoding. */
      maxOutputBytes: positive('maxOutputBytes').default(64_000),
      /** Bytes of one stream that a spill file may hold; a longer stream has no spill file. */
      maxSpillBytes: positive('maxSpillBytes').default(67_108_864),
      /** Between TERM and KILL, and how long open pipes may outlive the command, in milliseconds. */
      graceMs: positive('graceMs')
        .max(MAX_TIMER_MS, { error: faultOf('graceMs', `at most ${MAX_TIMER_MS}`) })
        .default(3_000),
      /** Where the private spill directory is made. Absent: `/var/tmp` where it is usable, else the system's temp. */
      spillParent: absolutePath('spillParent').optional(),
    },
    { error: unknownKeys },
  )
  .prefault({})

export type ConfigInput = z.input<typeof Config>
export type ResolvedConfig = Readonly<z.output<typeof Config>>

/** The complete settings. @throws {TypeError} with every fault in one line. */
export function resolveConfig(input?: ConfigInput): ResolvedConfig {
  const parsed = Config.safeParse(input)
  if (parsed.success) return parsed.data
  throw new TypeError(parsed.error.issues.map((issue) => issue.message).join('; '))
}

function unknownKeys(issue: { readonly code?: string | undefined; readonly keys?: unknown }): string {
  if (issue.code !== 'unrecognized_keys' || !Array.isArray(issue.keys))
    return 'bash-local: config must be an object'
  return `bash-local: unknown key ${issue.keys.map((key) => JSON.stringify(key)).join(', ')}`
}
