import { describe, expect, it } from 'vitest'
import type { GroundedPolicy } from '../grounded-policy.ts'
import type { PinnedRoot } from '../roots.ts'
import { SEATBELT_FAILURE, seatbeltArgv, seatbeltBackend, seatbeltProfile, seatbeltView } from './seatbelt.ts'

const TEMP = '/private/var/tmp/state/sessions/tmp-1'
const rootAt = (path: string): PinnedRoot => ({ path, dev: 1n, ino: 2n })

function policy(roots: readonly string[], facts: Partial<GroundedPolicy> = {}): GroundedPolicy {
  return {
    mode: 'workspace-write',
    workspace: rootAt('/Users/me/ws'),
    writable: roots.map(rootAt),
    tmp: 'private',
    temp: TEMP,
    hidden: [],
    ...facts,
  }
}

/** What each `-D` sets. */
function parameters(argv: readonly string[]): readonly string[] {
  return argv.filter((_, at) => argv[at - 1] === '-D')
}

describe('the profile text', () => {
  it('is this, for two roots', () => {
    expect(seatbeltProfile(2).split('\n')).toEqual([
      '(version 1)',
      '(allow default)',
      '(deny file-write*)',
      '(allow file-write* (literal "/dev/null") (literal "/dev/zero") (literal "/dev/random") (literal "/dev/urandom") ' +
        '(literal "/dev/tty") (literal "/dev/dtracehelper") (literal "/dev/ptmx") (regex #"^/dev/ttys[0-9]+$") (regex #"^/dev/fd/"))',
      '(allow file-write* (subpath (param "ROOT_0")) (subpath (param "ROOT_1")))',
      '(deny signal)',
      '(allow signal (target same-sandbox))',
    ])
  })

  it('denies before it allows, since the last matching rule wins', () => {
    const lines = seatbeltProfile(1).split('\n')
    const deny = lines.indexOf('(deny file-write*)')
    const allows = lines.flatMap((line, at) => (line.startsWith('(allow file-write*') ? [at] : []))
    expect(allows).toHaveLength(2)
    expect(Math.min(...allows)).toBeGreaterThan(deny)
  })

  it('opens no root when there is none: an empty rule would match everything', () => {
    expect(seatbeltProfile(0)).not.toContain('subpath')
    expect(seatbeltProfile(0)).not.toMatch(/\(allow file-write\*\s*\)/)
  })

  it('leaves file-ioctl to the default, so terminals keep working', () => {
    expect(seatbeltProfile(1)).not.toContain('ioctl')
  })

  it('is balanced', () => {
    for (const count of [0, 1, 3]) {
      const text = seatbeltProfile(count)
      expect(text.split('(').length).toBe(text.split(')').length)
    }
  })
})

describe('paths', () => {
  const odd = [
    '/Users/me/a "b"',
    '/Users/me/back\\slash',
    '/Users/me/new\nline',
    '/Users/me/(allow default)',
    '/Users/me/x=y',
    '/Users/me/é ✓',
  ]

  it('ride as parameters, as they are, whatever they hold', () => {
    const argv = seatbeltArgv(['bash'], policy(odd))
    expect(parameters(argv)).toEqual([...odd, TEMP].map((path, at) => `ROOT_${at}=${path}`))
  })

  it('never come into the text', () => {
    const text = (paths: readonly string[]) => {
      const argv = seatbeltArgv(['bash'], policy(paths))
      return argv[argv.indexOf('-p') + 1]
    }
    expect(text(odd)).toBe(seatbeltProfile(odd.length + 1))
    expect(text(odd)).toBe(text(odd.map(() => '/plain')))
  })
})

describe('the argv', () => {
  it('runs the one sandbox-exec, sets the temp behind it, and then the command', () => {
    const argv = seatbeltBackend().wrap(['bash', '-c', 'true'], policy([], { mode: 'read-only' }), {
      statusFd: 3,
    })
    expect(argv).toEqual([
      '/usr/bin/sandbox-exec',
      ...['-D', `ROOT_0=${TEMP}`, '-p', seatbeltProfile(1)],
      ...['/usr/bin/env', `TMPDIR=${TEMP}`, `TMP=${TEMP}`, `TEMP=${TEMP}`, `TMPPREFIX=${TEMP}/zsh`],
      ...['bash', '-c', 'true'],
    ])
    expect(seatbeltBackend()).toMatchObject({
      backend: 'seatbelt',
      runners: ['/usr/bin/sandbox-exec'],
      reportsStatus: false,
    })
  })

  it("tmp 'host': the temp is the kernel's spelling of /tmp, and the private one is closed", () => {
    const host = policy(['/private/tmp'], { tmp: 'host' })
    expect(seatbeltView(host)).toEqual({
      tempDir: '/private/tmp',
      scratch: [],
      maskedRoots: [],
      visibleRoots: [],
    })
    const argv = seatbeltArgv(['bash'], host)
    expect(parameters(argv)).toEqual(['ROOT_0=/private/tmp'])
    expect(argv).toContain('TMPDIR=/private/tmp')
  })

  it('fails by its own words, as the first thing printed', () => {
    expect(SEATBELT_FAILURE).toEqual({ fatalSignatures: ['sandbox-exec: '], soleOutput: true })
  })
})
