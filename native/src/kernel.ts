/** What the running kernel's Landlock offers, asked through the binding. */

import { isNativeFailure, useAddon } from './addon.ts'
import { errnoName, LandlockError, type LandlockStep } from './landlock-error.ts'
import { featuresOf, type LandlockFeatures } from './landlock-tables.ts'

/** What `create-ruleset` means by an errno. Source: landlock_create_ruleset(2); EPERM: seen under container filters. */
const WHY_NO_LANDLOCK: Readonly<Record<string, string>> = {
  ENOSYS: 'the kernel has no Landlock (before Linux 5.13, or built without it)',
  EOPNOTSUPP: 'Landlock was turned off when the kernel started (the lsm= parameter)',
  EPERM: 'a filter bars the Landlock calls, as container runtimes have it',
}

/** Throws LandlockError with step `create-ruleset` where there is no Landlock, and as `useAddon` does. */
export function kernelSupport(): { readonly abi: number; readonly errata: number } {
  const answer = useAddon().addon.probe()
  if (!isNativeFailure(answer)) return answer
  const code = errnoName(answer.errno)
  throw new LandlockError(`Landlock is not available: ${WHY_NO_LANDLOCK[code] ?? code}`, answer)
}

/**
 * The ABI as the kernel reports it, 1 or more; it may be higher than any that is known here.
 * Throws LandlockError where there is no Landlock; use `probe` to find out.
 */
export function abi(): number {
  return kernelSupport().abi
}

/**
 * Which known faults of Landlock are fixed in the running kernel: bit N-1 stands for erratum N, 0 where the kernel cannot
 * say. The kernel's own advice is not to ask: a kernel with a fault still confines. Throws as `abi` does.
 *
 * 1: other stream protocols were taken for TCP (ABI 4). 2: signals between threads of one process were stopped (ABI 6).
 * 3: a directory that was moved out of a bind mount could widen rights. 4: whiteouts needed `make_char`, not `make_reg`.
 * Source: Documentation/userspace-api/landlock.rst, "Landlock errata".
 */
export function errata(): number {
  return kernelSupport().errata
}

/**
 * What an ABI has; by default that of the running kernel. An ABI above the highest that is known here counts as that one:
 * `features().fs` never names a right that the kernel would refuse. What it names grows with the kernel, and with it what
 * a ruleset denies that handles all of it; name the ABI that was tried, `features(7)`, where that must not happen.
 */
export function features(ofAbi: number = abi()): LandlockFeatures {
  if (!Number.isInteger(ofAbi) || ofAbi < 1)
    throw new TypeError(`an ABI is an integer from 1 up, not ${ofAbi}`)
  return featuresOf(useAddon().tables, ofAbi)
}

/**
 * What `probe` found. When it is not supported, `step` tells whose fault that is: `create-ruleset` is the kernel's word
 * (ENOSYS not built in, EOPNOTSUPP turned off at boot, EPERM barred by a container's filter); `locate-addon` and
 * `load-addon` mean that the binding could not be asked, and nothing is known about the kernel.
 */
export type LandlockSupport =
  | { readonly supported: true; readonly abi: number; readonly errata: number }
  | {
      readonly supported: false
      readonly step: LandlockStep
      readonly errno: number
      readonly code: string
      /** For people. */
      readonly message: string
    }

/** Never throws. Asks the kernel anew each time. */
export function probe(): LandlockSupport {
  try {
    const support = kernelSupport()
    return { supported: true, abi: support.abi, errata: support.errata }
  } catch (error) {
    if (error instanceof LandlockError) {
      const { step, errno, code, message } = error
      return { supported: false, step, errno, code, message }
    }
    // Only loading runs foreign code; whatever it throws, the binding could not be asked.
    return {
      supported: false,
      step: 'load-addon',
      errno: 0,
      code: 'ERR_DLOPEN_FAILED',
      message: String(error),
    }
  }
}
