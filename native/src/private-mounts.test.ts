/** `--private-mounts`: what the host mounts later reaches PROGRAM no more. */

import { describe, expect, it } from 'vitest'
import { IDENTITIES, run, useBench, type Identity } from '../test/bench.ts'

const bench = useBench()

/** How many mounts of PROGRAM receive from others, where every mount does to begin with. */
function receivingMounts(identity: Identity, option: readonly string[]): string {
  const own = identity.uid === 0 ? ['-m'] : ['-U', '--map-current-user', '-m']
  const count = ['grep', '-cE', ' (shared|master):', '/proc/self/mountinfo']
  return run(
    ['unshare', ...own, '--propagation', 'shared', bench.launcher, '--passive', ...option, '--', ...count],
    {
      identity,
    },
  ).stdout
}

describe.each(IDENTITIES)('as $name', (identity) => {
  it('every mount is cut off', () => {
    expect(Number(receivingMounts(identity, []))).toBeGreaterThan(0)
    expect(receivingMounts(identity, ['--private-mounts'])).toBe('0\n')
  })

  it('the user stays the same, and holds no more than before', () => {
    const who = ['bash', '-c', 'id -u; id -g; grep CapEff /proc/self/status']
    const [as, front] = [{ identity }, [bench.launcher, '--passive', '--private-mounts', '--']]
    expect(run([...front, ...who], as)).toEqual(run(who, as))
  })
})

it('nothing runs where that is barred', () => {
  const { status, stdout, stderr } = run([
    ...[bench.faultRun, '--no-newns', '28', '--'],
    ...[bench.launcher, '--passive', '--private-mounts', '--', 'echo', 'ran'],
  ])
  expect(stdout).toBe('')
  expect([status, stderr]).toEqual([125, 'landlock-run: private-mounts: No space left on device\n'])
})
