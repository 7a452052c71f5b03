/** bubblewrap on a host where no launcher was built: what holds there, and what is said of it. */

import { spawnSync } from 'node:child_process'
import {
  closeSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  realpathSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import type { ConfinedArgv, SandboxPolicy } from 'dsh-sandbox'
import { createLocalSandboxProvider, type LocalSandboxProvider } from './provider.ts'
import { skipWithout } from './testing/needs.ts'

vi.mock('dsh-landlock', async (importOriginal) => ({
  ...(await importOriginal<object>()),
  locateLauncher: () => ({ missing: 'landlock-run is not built', fix: 'build it' }),
}))

/** Descriptors of a harness reach this far, so that a command finds what it is not meant to. */
const LEAKED_FD = 17

let scratch: string
let provider: LocalSandboxProvider

beforeEach(async ({ skip }) => {
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-test-alone-'))
  for (const name of ['ws', 'outside', 'state']) mkdirSync(join(scratch, name))
  provider = createLocalSandboxProvider({ backend: 'bwrap', stateParent: join(scratch, 'state') })
  skipWithout(skip, 'bwrap')
  await provider.ready()
})
afterEach(async () => {
  await provider.dispose()
  rmSync(scratch, { recursive: true })
})

const at = (...names: readonly string[]) => join(scratch, ...names)

function confine(script: string, mode: SandboxPolicy['mode'] = 'workspace-write'): ConfinedArgv {
  return provider.confine(
    ['bash', '-c', script, 'bash', scratch],
    { mode, workspaceRoot: at('ws') },
    { statusFd: 3 },
  )
}

/** Runs `argv` in the workspace with `leak`, where there is one, on descriptor 17. */
function run(argv: readonly string[], leak?: number) {
  const [program = '', ...args] = argv
  const between = Array.from({ length: LEAKED_FD - 3 }, () => 'ignore' as const)
  const { status, signal, stdout, stderr } = spawnSync(program, args, {
    cwd: at('ws'),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe', ...(leak === undefined ? [] : [...between, leak])],
  })
  return { status, signal, stdout, stderr }
}
const open = (script: string) => ['bash', '-c', script, 'bash', scratch]

describe('bubblewrap without the launcher', () => {
  it('is partial, and offers no status descriptor', async () => {
    expect(await provider.diagnose()).toMatchObject([
      {
        backend: 'bwrap',
        usable: true,
        enforcement: { 'read-only': 'partial', 'workspace-write': 'partial' },
        note: expect.stringContaining('landlock-run is not built'),
      },
    ])
    const confined = confine('true')
    expect(confined).toMatchObject({ backend: 'bwrap', enforcement: 'partial' })
    expect(Object.hasOwn(confined, 'statusFd')).toBe(false)
  })

  it('stops a write outside and lets one in the workspace through', () => {
    const script = 'echo x > "$1/ws/file"; echo x > "$1/outside/file"'
    expect(run(open(script)).status).toBe(0)
    expect([existsSync(at('ws/file')), existsSync(at('outside/file'))]).toEqual([true, true])
    for (const name of ['ws/file', 'outside/file']) rmSync(at(name))

    const { status, stderr } = run(confine(script).argv)
    expect([existsSync(at('ws/file')), existsSync(at('outside/file'))]).toEqual([true, false])
    expect([status, stderr]).toEqual([1, `bash: line 1: ${at('outside/file')}: Read-only file system\n`])
  })

  it('stops one in the workspace too under read-only', () => {
    const { status } = run(confine('echo x > "$1/ws/file"', 'read-only').argv)
    expect(readdirSync(at('ws'))).toEqual([])
    expect(status).toBe(1)
  })

  it('closes a descriptor that the harness left open', () => {
    const leak = openSync(at('outside'), 'r')
    const escape = `echo x > /proc/self/fd/${LEAKED_FD}/file`
    try {
      expect(run(open(escape), leak).status).toBe(0)
      expect(readdirSync(at('outside'))).toEqual(['file'])
      rmSync(at('outside/file'))
      expect(run(confine(escape).argv, leak).status).toBe(1)
      expect(readdirSync(at('outside'))).toEqual([])
      expect(run(confine(`: >&${LEAKED_FD}`).argv, leak).stderr).toBe(
        `bash: line 1: ${LEAKED_FD}: Bad file descriptor\n`,
      )
    } finally {
      closeSync(leak)
    }
  })

  it.each([0, 1, 2, 77, 125, 126, 127, 255])('passes exit status %i on', (status) => {
    expect(run(confine(`exit ${status}`).argv)).toEqual({ status, signal: null, stdout: '', stderr: '' })
  })

  it.each([
    ['TERM', 143],
    ['KILL', 137],
    ['SEGV', 139],
  ])('turns a death by %s into status %i', (signal, status) => {
    expect(run(confine(`kill -${signal} $$`).argv)).toMatchObject({ status, signal: null })
  })
})
