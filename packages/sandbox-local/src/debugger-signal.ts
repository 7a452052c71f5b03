/**
 * Keeps SIGUSR1 from opening this process's debugger. Node starts one on loopback at that signal, and whoever may send it
 * may then run code here: a confined command, where its kernel lets it signal. Source: Node, "Signal events".
 */

let holders = 0

/** Any listener takes the debugger's place. */
function ignore(): void {}

/** Holds the signal until the answer is called. One listener serves all holders. */
export function holdDebuggerSignal(): () => void {
  if (holders++ === 0) process.on('SIGUSR1', ignore)
  let held = true
  return () => {
    if (held && --holders === 0) process.off('SIGUSR1', ignore)
    held = false
  }
}
