/** What `landlock-run --probe` prints, as a value. */

/** What the running kernel offers. */
export interface LandlockProbe {
  /** The kernel's own number; it may be higher than any the launcher knows, which then uses the highest it knows. */
  readonly abi: number
  /** Bit mask of fixed errata; 0 where the kernel cannot say. */
  readonly errata: number
}

/** Undefined for anything but the one line that the launcher prints. */
export function parseProbe(stdout: string): LandlockProbe | undefined {
  const match = /^landlock abi=([1-9]\d{0,8}) errata=(0|[1-9]\d{0,9})\n$/.exec(stdout)
  return match === null ? undefined : { abi: Number(match[1]), errata: Number(match[2]) }
}
