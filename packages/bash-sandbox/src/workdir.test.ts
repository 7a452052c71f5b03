import { mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { ConfinedArgv } from 'dsh-sandbox'
import { assertWorkdirVisible } from './workdir.ts'

let scratch: string
beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/tmp/dsh-test-workdir-'))
})
afterEach(() => rmSync(scratch, { recursive: true }))

const view = (facts: Pick<ConfinedArgv, 'maskedRoots' | 'visibleRoots'>): ConfinedArgv => ({
  argv: ['/r'],
  enforcement: 'full',
  denialSignatures: [],
  runnerFailureRules: [],
  ...facts,
})

describe('a working directory', () => {
  it('in a masked root is refused by its own name', () => {
    expect(() => assertWorkdirVisible(scratch, view({ maskedRoots: ['/tmp'] }))).toThrow(
      expect.objectContaining({
        rule: 'workdir-hidden',
        subject: scratch,
        message:
          `working directory ${scratch} lies in /tmp, which the sandbox replaces by its own; nothing was run. ` +
          'Use the workspace, or a directory elsewhere.',
      }),
    )
  })

  it('is refused through a link', () => {
    const link = mkdtempSync('/var/tmp/dsh-test-link-')
    symlinkSync(scratch, join(link, 'door'))
    try {
      expect(() => assertWorkdirVisible(join(link, 'door'), view({ maskedRoots: ['/tmp'] }))).toThrow(
        expect.objectContaining({ rule: 'workdir-hidden' }),
      )
    } finally {
      rmSync(link, { recursive: true })
    }
  })

  it('that is shown again passes, and one beside it does not', () => {
    const shown = view({ maskedRoots: ['/tmp', '/dev'], visibleRoots: [scratch] })
    assertWorkdirVisible(scratch, shown)
    assertWorkdirVisible(`${scratch}/missing/..`, shown)
    expect(() => assertWorkdirVisible('/tmp', shown)).toThrow(
      expect.objectContaining({ rule: 'workdir-hidden' }),
    )
    expect(() => assertWorkdirVisible('/dev/shm', shown)).toThrow(
      expect.objectContaining({ rule: 'workdir-hidden' }),
    )
  })

  it('elsewhere passes, and everywhere when nothing is masked', () => {
    assertWorkdirVisible('/usr', view({ maskedRoots: ['/tmp'] }))
    assertWorkdirVisible(scratch, view({}))
  })
})
