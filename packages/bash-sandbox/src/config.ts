/** The executor's configuration: the spawn core's own keys, and the policy that calls get unless they bring one. */

import { isAbsolute } from 'node:path'
import { Config as LocalConfig, type ConfigInput } from 'dsh-bash-local'
import { SANDBOX_MODES } from 'dsh-sandbox'
import { z } from 'zod'

const absolutePath = z.string().refine(isAbsolute, 'must be an absolute path')

export const Config = LocalConfig.unwrap()
  .extend({
    /** The mode of calls that name none. */
    mode: z.enum(SANDBOX_MODES).default('read-only'),
    /** Absent: the working directory of this process when the configuration is loaded. */
    workspaceRoot: absolutePath.default(() => process.cwd()),
    /** Directory of commands that name none. Absent: the workspace root. */
    cwd: absolutePath.optional(),
  })
  .prefault({})

export type SandboxedBashConfig = z.output<typeof Config>
export type SandboxedBashConfigInput = NonNullable<z.input<typeof Config>>

/** The complete settings. @throws {TypeError} with every fault in one line, each naming its key. */
export function resolveConfig(input: SandboxedBashConfigInput): SandboxedBashConfig {
  const parsed = Config.safeParse(input)
  if (parsed.success) return parsed.data
  const faults = parsed.error.issues.map(
    ({ path, message }) => `${path.length === 0 ? '' : `${path.join('.')}: `}${message}`,
  )
  throw new TypeError(`bash-sandbox: ${faults.join('; ')}`)
}

/** The keys that are the spawn core's. */
export function localConfig({
  mode: _mode,
  workspaceRoot,
  cwd = workspaceRoot,
  ...local
}: SandboxedBashConfig): ConfigInput {
  return { ...local, cwd }
}
