/**
 * Turns a request to end this process into a request to end the command. The first signal aborts, which sends TERM and
 * after the grace KILL. A further one is from someone who does not want to wait: the process exits, and what it
 * started is killed on the way out.
 */

import { signalStatus } from './exit-status.ts'

const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/** Watches until `release()` is called; from then on the signals mean what they meant before. */
export interface SignalWatch {
  /** Fires at the first signal. */
  readonly signal: AbortSignal
  /** The first signal, once there was one. */
  readonly received: NodeJS.Signals | undefined
  release(): void
}

export function watchSignals(): SignalWatch {
  const controller = new AbortController()
  let received: NodeJS.Signals | undefined
  const onSignal = (signal: NodeJS.Signals): void => {
    // The spawn core kills what still runs when this process exits.
    if (received !== undefined) process.exit(signalStatus(received))
    received = signal
    controller.abort(new Error(`ended by ${signal}`))
  }
  for (const name of ENDING_SIGNALS) process.on(name, onSignal)
  return {
    signal: controller.signal,
    get received() {
      return received
    },
    release() {
      for (const name of ENDING_SIGNALS) process.off(name, onSignal)
    },
  }
}
