/** The provider's configuration, checked when it is loaded. */

import { z } from 'zod'

/** Which rung to use: one of them, or the first of the platform's ladder that works. */
export const BACKEND_CHOICES = ['auto', 'bwrap', 'landlock', 'seatbelt'] as const
export type BackendChoice = (typeof BACKEND_CHOICES)[number]

const singleLine = z
  .string()
  .refine(
    (text) => text.trim() !== '' && !/[\r\n]/.test(text),
    'sandbox-local: runnerFailureSignatures entries must be non-empty single-line strings',
  )

/** Node's timers take a signed 32-bit count of milliseconds; anything above fires at once. Source: Node, `timers`. */
const MAX_TIMER_MS = 2_147_483_647

const positiveMs = (name: string) => {
  const fault = `sandbox-local: ${name} must be a positive finite number`
  return z
    .number(fault)
    .positive(fault)
    .max(MAX_TIMER_MS, `sandbox-local: ${name} must be at most ${MAX_TIMER_MS}`)
}

const absolutePath = z.string().startsWith('/', 'must be an absolute path')

export const Config = z
  .strictObject({
    backend: z.enum(BACKEND_CHOICES).default('auto'),
    /** An operator's own runner: bubblewrap-shaped arguments, `--` and the command are appended to it. */
    runnerCommand: z.array(z.string()).default([]),
    /** What that runner prints on stderr when it fails before the command starts. */
    runnerFailureSignatures: z.array(singleLine).default([]),
    /** Milliseconds that one probe run may take. */
    probeTimeoutMs: positiveMs('probeTimeoutMs').default(5000),
    /** Milliseconds after which a failed verdict is probed again. */
    probeRetryMs: positiveMs('probeRetryMs').default(30_000),
    /** Where private state is made. Absent: `/var/tmp`, else the system's temp directory. */
    stateParent: absolutePath.optional(),
    /** Directories that hold nothing to be trusted; no runner is taken from there. Absent: the working directory. */
    untrustedRoots: z.array(absolutePath).optional(),
  })
  .superRefine((config, context) => {
    const configured = config.runnerCommand.length > 0
    const described = config.runnerFailureSignatures.length > 0
    if (described && !configured)
      fault('sandbox-local: runnerFailureSignatures requires runnerCommand', 'runnerFailureSignatures')
    if (configured && !described) {
      fault(
        'sandbox-local: runnerCommand requires at least one runnerFailureSignatures entry',
        'runnerFailureSignatures',
      )
    }
    function fault(message: string, key: string): void {
      context.addIssue({ code: 'custom', message, path: [key] })
    }
  })
  .prefault({})

export type ProviderConfig = z.output<typeof Config>
export type ProviderConfigInput = z.input<typeof Config>
