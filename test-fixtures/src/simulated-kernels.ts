/**
 * Kernels that `fault-run` can pretend. In: a name. Out: what stands before a program so that it, and all that it starts,
 * sees that kernel's Landlock. What else an older kernel does differently is not pretended: real ones are for that.
 */

import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

interface SimulatedKernel {
  /** The first release with this Landlock; 5.12 is the last one without any. What a case says of releases goes by it. */
  readonly release: string
  /** Rule and value for `fault-run`. */
  readonly rule: readonly [name: string, value: string]
}

/** Source: landlock(7), "VERSIONS"; errno(3) on Linux: 38 ENOSYS, 95 EOPNOTSUPP, 1 EPERM. */
const KERNELS = {
  'abi-1': { release: '5.13', rule: ['--landlock-abi', '1'] },
  'abi-2': { release: '5.19', rule: ['--landlock-abi', '2'] },
  'abi-3': { release: '6.2', rule: ['--landlock-abi', '3'] },
  'abi-4': { release: '6.7', rule: ['--landlock-abi', '4'] },
  'abi-5': { release: '6.10', rule: ['--landlock-abi', '5'] },
  'abi-6': { release: '6.12', rule: ['--landlock-abi', '6'] },
  'abi-7': { release: '6.15', rule: ['--landlock-abi', '7'] },
  'not-in-the-kernel': { release: '5.12', rule: ['--landlock-errno', '38'] },
  'off-at-boot': { release: '5.12', rule: ['--landlock-errno', '95'] },
  'barred-by-a-container': { release: '5.12', rule: ['--landlock-errno', '1'] },
} as const satisfies Record<string, SimulatedKernel>

export type KernelName = keyof typeof KERNELS
type Without = Exclude<KernelName, `abi-${number}`>

// The keys of the table above, and nothing else.
export const KERNEL_NAMES = Object.keys(KERNELS) as readonly KernelName[]

function hasNoLandlock(name: KernelName): name is Without {
  return !name.startsWith('abi-')
}

/** Those that have a Landlock, from the oldest. */
export const LANDLOCK_KERNELS = KERNEL_NAMES.filter((name) => !hasNoLandlock(name))

/** How a kernel says that it has none. */
export const KERNELS_WITHOUT_LANDLOCK = KERNEL_NAMES.filter(hasNoLandlock)

const FAULT_RUN = fileURLToPath(new URL('../../build/Release/fault-run', import.meta.url))

/** True where the native code was built. */
export function canSimulateKernels(): boolean {
  return existsSync(FAULT_RUN)
}

export function releaseOf(name: KernelName): string {
  return KERNELS[name].release
}

/** What stands before the argv of a program that is to see this kernel. */
export function simulating(name: KernelName): readonly string[] {
  return [FAULT_RUN, ...KERNELS[name].rule, '--']
}
