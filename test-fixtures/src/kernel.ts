/** Which kernel this is. */

import { release } from 'node:os'

function numbers(text: string): readonly [number, number] {
  const [major = 0, minor = 0] = text.split('.').map((part) => Number.parseInt(part, 10))
  return [major, minor]
}

/** True when the running kernel is older than `version`, such as `6.12`. */
export function kernelIsBefore(version: string, running: string = release()): boolean {
  const [major, minor] = numbers(running)
  const [wantedMajor, wantedMinor] = numbers(version)
  return major < wantedMajor || (major === wantedMajor && minor < wantedMinor)
}
