/** From a name or a file to a profile. The shipped ones lie beside `src` and, when published, beside `dist`. */

import { readFile, stat } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { ProfileError } from './errors.ts'
import { type SandboxProfile, profileFault, profileSchema } from './schema.ts'

/** The profiles of this package, by name. */
export const SHIPPED_PROFILES = ['read-only', 'workspace-write', 'ci'] as const

/** More than any profile needs, in bytes; a device or a log given by mistake is not read to its end. */
const LARGEST_PROFILE_BYTES = 65_536

const FILE_FAULT: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist',
  ENOTDIR: 'does not exist',
  EACCES: 'cannot be read: permission denied',
}

/**
 * The profile that `nameOrFile` names: one of {@link SHIPPED_PROFILES} when it has neither a `/` nor the ending
 * `.json`, else a file relative to the current directory.
 *
 * @throws {ProfileError} unknown, unreadable, no JSON, or not what the schema allows.
 */
export async function loadProfile(nameOrFile: string): Promise<SandboxProfile> {
  return parseProfile(nameOrFile, await readProfile(nameOrFile, profileFile(nameOrFile)))
}

/** Pure: the profile in `text`. `label` is what messages call it. */
export function parseProfile(label: string, text: string): SandboxProfile {
  const value = parseJson(label, text)
  const fault = profileFault(value)
  if (fault !== undefined) throw new ProfileError(label, fault)
  return profileSchema.parse(value)
}

function profileFile(nameOrFile: string): string {
  if (nameOrFile.includes('/') || nameOrFile.endsWith('.json')) return nameOrFile
  const shipped = SHIPPED_PROFILES.find((name) => name === nameOrFile)
  if (shipped !== undefined) return fileURLToPath(new URL(`../${shipped}.json`, import.meta.url))
  throw new ProfileError(
    nameOrFile,
    `is not one of ${SHIPPED_PROFILES.join(', ')}; a profile of your own is a path with a "/" or the ending ".json"`,
  )
}

async function readProfile(label: string, file: string): Promise<string> {
  try {
    const { size, isFile } = await regularFile(file)
    if (!isFile) throw new ProfileError(label, 'is not a regular file')
    if (size > LARGEST_PROFILE_BYTES)
      throw new ProfileError(label, `is larger than ${LARGEST_PROFILE_BYTES} bytes`)
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof ProfileError) throw error
    throw new ProfileError(label, readFault(error), { cause: error })
  }
}

async function regularFile(file: string): Promise<{ size: number; isFile: boolean }> {
  const entry = await stat(file)
  return { size: entry.size, isFile: entry.isFile() }
}

function readFault(error: unknown): string {
  const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'
  return FILE_FAULT[code] ?? `cannot be read (${code})`
}

function parseJson(label: string, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw new ProfileError(label, 'is not JSON', { cause })
  }
}
