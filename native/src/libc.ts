/** Which C library this process runs on. Nothing is started and no file is read. */

export type Libc = 'glibc' | 'musl'

let known: Libc | undefined

/**
 * Asked once per process; the first call takes about 5 ms.
 *
 * Source: Node's diagnostic report names `glibcVersionRuntime` in its header on glibc, and nowhere else.
 */
export function libc(): Libc {
  known ??= askReport()
  return known
}

function askReport(): Libc {
  // The report would otherwise look up a host name for each open connection, which can take seconds.
  const report: { excludeNetwork?: boolean } & NodeJS.ProcessReport = process.report
  const before = report.excludeNetwork
  try {
    report.excludeNetwork = true
    const { header } = report.getReport() as { header?: { glibcVersionRuntime?: unknown } }
    return typeof header?.glibcVersionRuntime === 'string' ? 'glibc' : 'musl'
  } finally {
    report.excludeNetwork = before ?? false
  }
}
