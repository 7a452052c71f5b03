import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { armDeadline } from './deadline.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const acts = ['timeout', 'abort', 'kill'] as const

/** A deadline of 100 ms and each way of ending it. */
function armed() {
  const controller = new AbortController()
  const onEnd = vi.fn<() => void>()
  const deadline = armDeadline({ timeoutMs: 100, signal: controller.signal }, onEnd)
  const act = {
    timeout: () => vi.advanceTimersByTime(100),
    abort: () => controller.abort(),
    kill: () => deadline.kill(),
  }
  return { deadline, onEnd, act }
}

describe('the first cause', () => {
  it.each(acts.flatMap((first) => acts.map((second) => [first, second] as const)))(
    '%s stands when %s comes after it',
    (first, second) => {
      const { deadline, onEnd, act } = armed()
      expect(deadline.cause).toBe(undefined)
      act[first]()
      act[second]()
      expect(deadline.cause).toBe(first)
      expect(onEnd).toHaveBeenCalledTimes(1)
      expect(vi.getTimerCount()).toBe(0)
    },
  )

  it.each(acts)('is not %s once the command has ended', (late) => {
    const { deadline, onEnd, act } = armed()
    deadline.disarm()
    act[late]()
    expect([deadline.cause, onEnd.mock.calls.length, vi.getTimerCount()]).toEqual([undefined, 0, 0])
  })
})

describe('a timeout past the longest timer of Node', () => {
  it('fires when it is due and not before', () => {
    const onEnd = vi.fn<() => void>()
    const longest = 2_147_483_647
    armDeadline({ timeoutMs: 2 * longest + 5, signal: undefined }, onEnd)
    vi.advanceTimersByTime(longest)
    vi.advanceTimersByTime(longest)
    vi.advanceTimersByTime(4)
    expect(onEnd).toHaveBeenCalledTimes(0)
    vi.advanceTimersByTime(1)
    expect(onEnd).toHaveBeenCalledTimes(1)
  })
})
