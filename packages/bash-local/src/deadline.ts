/** Which cause ends a command early: the first one stands, and it is told once. */

import { MAX_TIMER_MS } from './config.ts'

/** `timeout`: our own timer. `abort`: the caller's signal. `kill`: `kill()` or disposal. */
export type EndCause = 'timeout' | 'abort' | 'kill'

export interface Deadline {
  /** The first cause, or undefined while none has come. */
  readonly cause: EndCause | undefined
  /** Ends by hand. Without effect after another cause. */
  kill(): void
  /** The command ended by itself: no cause counts from now on. */
  disarm(): void
}

/** What may end a command. */
export interface DeadlineTerms {
  /** Milliseconds from now; undefined: never. */
  readonly timeoutMs: number | undefined
  readonly signal: AbortSignal | undefined
}

/** Arms the timer and the signal. `onEnd` is called at most once, synchronously with the cause. */
export function armDeadline(terms: DeadlineTerms, onEnd: () => void): Deadline {
  let cause: EndCause | undefined
  let armed = true
  const end = (first: EndCause) => {
    if (!armed) return
    cause = first
    disarm()
    onEnd()
  }
  const onAbort = () => end('abort')
  const cancelTimer =
    terms.timeoutMs === undefined ? () => {} : startTimer(terms.timeoutMs, () => end('timeout'))
  const disarm = () => {
    armed = false
    cancelTimer()
    terms.signal?.removeEventListener('abort', onAbort)
  }
  terms.signal?.addEventListener('abort', onAbort, { once: true })
  return {
    get cause() {
      return cause
    },
    kill: () => end('kill'),
    disarm,
  }
}

/** A timer of any length: one longer than Node's longest is made of several. Returns its cancellation. */
function startTimer(ms: number, onFire: () => void): () => void {
  let timer: NodeJS.Timeout
  const arm = (left: number) => {
    timer = setTimeout(
      () => (left > MAX_TIMER_MS ? arm(left - MAX_TIMER_MS) : onFire()),
      Math.min(left, MAX_TIMER_MS),
    )
  }
  arm(ms)
  return () => clearTimeout(timer)
}
