import { chmodSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { customBackend } from './backends/custom.ts'
import type { BackendFailure } from './failure.ts'
import { readHostFacts } from './host.ts'
import { probe } from './probe.ts'
import { skipWithout } from './testing/needs.ts'

let scratch: string
let temp: string

beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-test-probe-'))
  temp = join(scratch, 'temp')
  mkdirSync(temp)
})
afterEach(() => rmSync(scratch, { recursive: true }))

/** A runner that does what `body` says; the command is in `"$@"`. */
function runner(body: string): string {
  const path = join(scratch, 'runner')
  writeFileSync(path, `#!/bin/bash\n${body}\n`)
  chmodSync(path, 0o755)
  return path
}

/** Skips the profile and sets the temp, as a runner that runs the command but confines nothing. */
const INERT = `temp=${'$'}TMPDIR
while [ "$1" != -- ]; do [ "$1" = --bind ] && [ "$3" = /tmp ] && temp=$2; shift; done; shift
export TMPDIR=$temp
`

function probeRunner(body: string, timeoutMs = 10_000): Promise<BackendFailure | undefined> {
  return probe(customBackend([runner(body)], readHostFacts()), { parent: scratch, timeoutMs, temp })
}

describe('a runner', () => {
  it('that confines holds, and the scratch is gone', async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    expect(await probeRunner('exec /usr/bin/bwrap "$@"')).toBeUndefined()
    expect(readdirSync(scratch).toSorted()).toEqual(['runner', 'temp'])
  })

  it('that runs the command unconfined fails the denied write', async () => {
    expect(await probeRunner(`${INERT}exec "$@"`)).toMatchObject({
      step: 'deny',
      detail: 'a write that read-only must stop went through (inside)',
    })
  })

  it('that makes the host writable fails it too', async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    expect(await probeRunner('exec /usr/bin/bwrap "${@/--ro-bind/--bind}"')).toMatchObject({ step: 'deny' })
  })

  it('that confines read-only alone, and lets workspace-write go anywhere, fails', async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    const widened = `args=("$@"); for arg; do [[ $arg = */workspace-write ]] && args=("\${args[@]/--ro-bind/--bind}"); done
exec /usr/bin/bwrap "\${args[@]}"`
    expect(await probeRunner(widened)).toMatchObject({
      step: 'deny',
      detail: 'a write that workspace-write must stop went through (outside)',
    })
  })

  it('that stops every write fails the allowed one', async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    expect(await probeRunner('exec /usr/bin/bwrap "${@/#--bind/--ro-bind}"')).toMatchObject({
      step: 'allow',
      detail: 'a write that read-only must let through failed (temp)',
    })
  })

  it('that claims success without running anything is not believed', async () => {
    expect(await probeRunner('exit 0')).toMatchObject({ step: 'start' })
    expect(await probeRunner('exit 43')).toMatchObject({ step: 'allow' })
  })

  it('that prints a reason and ends fails with that line', async () => {
    expect(
      await probeRunner('echo; echo "bwrap: No permissions to create new namespace" >&2; exit 1'),
    ).toEqual({
      step: 'start',
      detail: 'bwrap: No permissions to create new namespace',
      fix:
        'allow user namespaces (kernel.unprivileged_userns_clone=1, user.max_user_namespaces above 0; in a container, a ' +
        'seccomp profile that allows them)',
    })
  })

  it('that is not there fails to start', async () => {
    const missing = customBackend([join(scratch, 'missing')], readHostFacts())
    expect(await probe(missing, { parent: scratch, timeoutMs: 10_000, temp })).toMatchObject({
      step: 'start',
    })
  })

  it('that may not be executed says how to mend it', async () => {
    chmodSync(runner('exit 43'), 0o644)
    const backend = customBackend([join(scratch, 'runner')], readHostFacts())
    const failure = await probe(backend, { parent: scratch, timeoutMs: 10_000, temp })
    expect(failure).toMatchObject({
      step: 'start',
      fix: 'let this user execute it, from a file system mounted without noexec',
    })
  })

  it('that floods its output is cut off', async () => {
    expect(await probeRunner('yes flood >&2')).toMatchObject({ step: 'start' })
  })
})

describe('time', () => {
  it('a runner that hangs, deaf to TERM, ends with the timeout, while the event loop turns', async () => {
    let turns = 0
    let pulse: NodeJS.Immediate
    const turn = () => {
      turns += 1
      pulse = setImmediate(turn)
    }
    pulse = setImmediate(turn)
    const failure = await probeRunner("trap '' TERM; exec sleep 600", 300)
    clearImmediate(pulse)
    expect(failure).toEqual({
      step: 'start',
      detail: 'timed out after 300 ms',
      fix: 'raise probeTimeoutMs, or see why starting a process takes so long here',
    })
    expect(turns).toBeGreaterThan(100)
  })

  it('the event loop turns while a runner runs: this one waits for what a timer makes', async ({ skip }) => {
    skipWithout(skip, 'bwrap')
    const go = join(scratch, 'go')
    const timer = setTimeout(() => writeFileSync(go, ''), 50)
    expect(
      await probeRunner(`until [ -e ${go} ]; do sleep 0.01; done; exec /usr/bin/bwrap "$@"`),
    ).toBeUndefined()
    clearTimeout(timer)
  })
})

describe('the site', () => {
  it('without a place for scratch is a failed start, not a rejection', async () => {
    const backend = customBackend([runner('exec /usr/bin/bwrap "$@"')], readHostFacts())
    const site = { parent: join(scratch, 'missing'), timeoutMs: 10_000, temp }
    expect(await probe(backend, site)).toMatchObject({
      step: 'start',
      detail: expect.stringMatching(/^the probe itself failed: ENOENT/),
      fix: `make ${scratch} writable and keep space on it`,
    })
  })
})
