/** Lexical facts about absolute, normalised paths. Nothing here looks at the disk. */

/**
 * Where Linux programs share memory: shm_open(3) and sem_open(3) make files there, under names that no variable moves.
 * A backend that cannot give commands one of their own has to open the host's, so nothing of ours may lie in it.
 */
export const SHARED_MEMORY = '/dev/shm'

/** True when `path` is `root` or lies below it. Both absolute and normalised, without a trailing slash. */
export function isWithin(root: string, path: string): boolean {
  return root === path || path.startsWith(root === '/' ? '/' : `${root}/`)
}

/** The longest of `roots` that holds `path`. */
export function deepestRoot(roots: readonly string[], path: string): string | undefined {
  return roots
    .filter((root) => isWithin(root, path))
    .reduce<string | undefined>(
      (deepest, root) => (deepest === undefined || root.length > deepest.length ? root : deepest),
      undefined,
    )
}
