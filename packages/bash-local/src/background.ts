/** A begun command as a background process: no timeout, incremental reads, settled once. */

import type { BashProcess, BashProcessRead, BashSandboxInfo } from 'dsh-bash'
import type { BegunCommand } from './begin.ts'
import type { StreamRead } from './collect.ts'
import type { EndedCommand, RunnableCommand } from './command.ts'

type Writable<T> = { -readonly [K in keyof T]: T[K] }

/** `judge` is asked once, when the process has ended and before `done` resolves. */
export function backgroundProcess(begun: BegunCommand, judge: RunnableCommand['judge']): BashProcess {
  // Also while its pipes drain, when it has ended already and `killed` stays false.
  let killAsked = false
  // Text of ours that the next read delivers in place of output.
  let note = ''

  const settle = (ended: EndedCommand) => {
    const verdict = judged(ended, judge)
    if (verdict !== undefined) handle.sandbox = verdict
    if (ended.spawnError !== undefined) note = `spawn failed: ${ended.spawnError.message}`
    if (ended.leftover !== undefined) handle.leftover = ended.leftover
    handle.exitCode = ended.exitCode
    handle.signal = ended.signal
    handle.status = killAsked || wasKilled(ended) ? 'killed' : 'completed'
  }

  const handle: Writable<BashProcess> = {
    status: 'running',
    exitCode: null,
    signal: null,
    done: begun.ended.then(settle),
    readOutput() {
      if (note === '') return mergedRead(begun.stdout.read(), begun.stderr.read())
      const delta = note
      note = ''
      return { delta, lossy: false }
    },
    kill() {
      if (handle.status !== 'running') return false
      killAsked = true
      begun.kill()
      return true
    },
  }
  return handle
}

function wasKilled(ended: EndedCommand): boolean {
  return ended.killed || ended.aborted || ended.signal !== null || ended.spawnError !== undefined
}

function judged(ended: EndedCommand, judge: RunnableCommand['judge']): BashSandboxInfo | undefined {
  try {
    return judge?.(ended)
  } catch {
    // A judge must not throw; one that does has no verdict, and `done` has no way to reject.
    return undefined
  }
}

function mergedRead(stdout: StreamRead, stderr: StreamRead): BashProcessRead {
  return {
    delta: stdout.text + stderrSection(stdout.text, stderr.text),
    lossy: stdout.lossy || stderr.lossy,
    ...(stdout.spillPath === undefined ? {} : { stdoutSpillPath: stdout.spillPath }),
    ...(stderr.spillPath === undefined ? {} : { stderrSpillPath: stderr.spillPath }),
  }
}

function stderrSection(before: string, text: string): string {
  if (text === '') return ''
  const separator = before === '' || before.endsWith('\n') ? '' : '\n'
  return `${separator}[stderr]\n${text}`
}
