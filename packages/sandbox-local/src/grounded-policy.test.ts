import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { SandboxPolicyError, type SandboxPolicy } from 'dsh-sandbox'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { groundPolicy, type GuardedDirectory, type PolicyGround } from './grounded-policy.ts'
import { createRootPins } from './roots.ts'

let scratch: string
let ws: string
let home: string
let state: string
let ground: PolicyGround

beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-test-policy-'))
  ws = directory('ws')
  home = directory('people/me')
  state = directory('state')
  const guarded: readonly GuardedDirectory[] = [
    { path: home, what: 'the home directory', rule: 'root-holds-home', below: 'free' },
    { path: state, what: 'private state of the sandbox', rule: 'root-holds-private-state', below: 'closed' },
  ]
  ground = {
    pins: createRootPins(),
    guarded,
    tempOf: (sessionId) => `${state}/temp-of-${sessionId ?? 'nobody'}`,
    hidden: [join(state, 'sessions')],
  }
})
afterEach(() => rmSync(scratch, { recursive: true }))

function directory(name: string): string {
  const path = join(scratch, name)
  mkdirSync(path, { recursive: true })
  return path
}

function writablePaths(policy: SandboxPolicy): readonly string[] {
  return groundPolicy(policy, ground).writable.map(({ path }) => path)
}

function refusal(policy: SandboxPolicy): { rule: string; subject: string; message: string } {
  try {
    groundPolicy(policy, ground)
  } catch (error) {
    if (error instanceof SandboxPolicyError) {
      return { rule: error.rule, subject: error.subject, message: error.message }
    }
    throw error
  }
  throw new Error('the policy was accepted')
}

const readOnly = (workspaceRoot: string): SandboxPolicy => ({ mode: 'read-only', workspaceRoot })
const workspaceWrite = (workspaceRoot: string): SandboxPolicy => ({ mode: 'workspace-write', workspaceRoot })

describe('what a policy becomes', () => {
  it('read-only opens nothing, whatever roots it names', () => {
    const grounded = groundPolicy({ ...readOnly(ws), writableRoots: [home] }, ground)
    expect(grounded).toMatchObject({
      mode: 'read-only',
      writable: [],
      tmp: 'private',
      temp: `${state}/temp-of-nobody`,
    })
    expect(grounded.workspace.path).toBe(ws)
  })

  it('workspace-write opens the root and the extra ones, each once', () => {
    const extra = directory('extra')
    symlinkSync(extra, join(scratch, 'link'))
    const policy = {
      ...workspaceWrite(`${ws}/`),
      writableRoots: [extra, join(scratch, 'link'), ws],
      sessionId: 's1',
    }
    expect(writablePaths(policy)).toEqual([ws, extra])
    expect(groundPolicy(policy, ground).temp).toBe(`${state}/temp-of-s1`)
  })

  it("tmp 'host' opens the host's /tmp in both modes", () => {
    expect(writablePaths({ ...readOnly(ws), tmp: 'host' })).toEqual(['/tmp'])
    expect(writablePaths({ ...workspaceWrite(ws), tmp: 'host' })).toEqual([ws, '/tmp'])
  })

  it('what asks for nothing is accepted', () => {
    const nothing = {
      protectedPaths: [],
      hiddenPaths: [],
      network: 'host',
      unixSockets: 'host',
      limits: {},
      requires: [],
    } as const
    expect(writablePaths({ ...workspaceWrite(ws), ...nothing })).toEqual([ws])
  })
})

describe('roots that are refused', () => {
  it.each([readOnly, workspaceWrite])('the whole file system (%o)', (policy) => {
    symlinkSync('/', join(scratch, 'slash'))
    for (const spelled of ['/', '//', '/..', join(scratch, 'slash')]) {
      expect(refusal(policy(spelled))).toEqual({
        rule: 'root-is-filesystem-root',
        subject: spelled,
        message: `workspace root ${spelled} is the whole file system; nothing was run. Choose a project directory.`,
      })
    }
  })

  it.each([readOnly, workspaceWrite])("the kernel's own (%o)", (policy) => {
    symlinkSync('/proc/sys', join(scratch, 'knobs'))
    for (const spelled of ['/proc', '/proc/sys/kernel', '/sys', '/dev', '/dev/shm', join(scratch, 'knobs')]) {
      expect(refusal(policy(spelled))).toEqual({
        rule: 'root-is-kernel-filesystem',
        subject: spelled,
        message: `workspace root ${spelled} lies in a file system of the kernel; nothing was run. Choose a project directory.`,
      })
    }
  })

  it('/proc/self/root is /', () => {
    expect(refusal(readOnly('/proc/self/root')).rule).toBe('root-is-filesystem-root')
  })

  it('a missing extra root, by its own name', () => {
    const missing = join(scratch, 'missing')
    expect(refusal({ ...workspaceWrite(ws), writableRoots: [missing] })).toMatchObject({
      rule: 'root-missing',
      subject: missing,
    })
  })

  it('an extra root that is the whole file system', () => {
    expect(refusal({ ...workspaceWrite(ws), writableRoots: ['/'] }).rule).toBe('root-is-filesystem-root')
  })
})

describe('what no writable root may hold', () => {
  it('nor lie in, where nothing below is a project', () => {
    mkdirSync(join(state, 'below'))
    const { rule, message } = refusal(workspaceWrite(join(state, 'below')))
    expect(rule).toBe('root-holds-private-state')
    expect(message).toMatch(` lies in private state of the sandbox (${state}), `)
  })

  it('home, its ancestors, and a link to either', () => {
    symlinkSync(home, join(scratch, 'way-home'))
    for (const spelled of [home, `${home}/`, dirname(home), join(scratch, 'way-home')]) {
      const { rule, subject } = refusal(workspaceWrite(spelled))
      expect([rule, subject]).toEqual(['root-holds-home', realpathSync(spelled)])
    }
    expect(refusal(workspaceWrite(home)).message).toBe(
      `writable root ${home} holds the home directory (${home}), which a confined command must not write; nothing was ` +
        'run. Choose a project directory that does not.',
    )
  })

  it('but a directory below home is fine, and read-only is everywhere', () => {
    const project = directory('people/me/project')
    expect(writablePaths(workspaceWrite(project))).toEqual([project])
    expect(writablePaths(readOnly(home))).toEqual([])
    expect(writablePaths(readOnly(dirname(home)))).toEqual([])
  })

  it('private state', () => {
    expect(refusal(workspaceWrite(state)).rule).toBe('root-holds-private-state')
    expect(refusal({ ...workspaceWrite(ws), writableRoots: [state] }).rule).toBe('root-holds-private-state')
    expect(writablePaths(readOnly(state))).toEqual([])
  })

  it('and nothing that is guarded lies in shared memory, which a backend may have to open in every mode', () => {
    const inShared = { path: '/dev/shm/state', what: 'private state', below: 'closed' } as const
    const guarded: readonly GuardedDirectory[] = [{ ...inShared, rule: 'root-holds-private-state' }]
    ground = { ...ground, guarded }
    const { rule, subject } = refusal(readOnly(ws))
    expect([rule, subject]).toEqual(['root-holds-private-state', '/dev/shm'])
  })

  it("private state below the host's /tmp, once that is opened", () => {
    const inTmp: GuardedDirectory = {
      path: '/tmp/state',
      what: 'private state',
      rule: 'root-holds-private-state',
      below: 'closed',
    }
    ground = { ...ground, guarded: [inTmp] }
    expect(refusal({ ...readOnly(ws), tmp: 'host' }).rule).toBe('root-holds-private-state')
  })

  it('a root whose name only begins the same', () => {
    const neighbour = directory('people/me-too')
    expect(writablePaths(workspaceWrite(neighbour))).toEqual([neighbour])
  })
})

describe('what cannot be enforced', () => {
  it.each([
    ['protectedPaths', { protectedPaths: ['/ws/.git'] }],
    ['hiddenPaths', { hiddenPaths: ['/etc/shadow'] }],
    ['network', { network: 'none' }],
    ['network', { network: 'loopback' }],
    ['unixSockets', { unixSockets: 'none' }],
    ['unixSockets', { unixSockets: [] }],
    ['limits', { limits: { processes: 0 } }],
    ['limits', { limits: { memoryBytes: 1, openFiles: undefined } }],
  ] as const)('%s is refused by name (%j)', (field, demand) => {
    for (const policy of [readOnly(ws), workspaceWrite(ws)]) {
      expect(refusal({ ...policy, ...demand })).toEqual({
        rule: 'not-enforceable',
        subject: field,
        message:
          `the policy asks for "${field}", which no sandbox backend here enforces yet; nothing was run. ` +
          'Remove it to run without it.',
      })
    }
  })

  it('a demand is refused before a root is touched', () => {
    expect(refusal({ ...readOnly('/nowhere'), network: 'none' }).rule).toBe('not-enforceable')
  })
})

describe('modes', () => {
  // The types rule both out; a caller without types does not know that.
  const ofMode = (mode: string) => ({ mode, workspaceRoot: ws }) as unknown as SandboxPolicy

  it('danger-full-access is never grounded', () => {
    expect(() => groundPolicy(ofMode('danger-full-access'), ground)).toThrow(
      new TypeError('a sandbox provider is never asked for danger-full-access: run the command without it'),
    )
  })

  it.each(['', 'none', 'WORKSPACE-WRITE', 'undefined'])('unknown mode %j', (mode) => {
    expect(() => groundPolicy(ofMode(mode), ground)).toThrow(
      new TypeError(
        `unknown sandbox mode "${mode}"; the modes are read-only, workspace-write, danger-full-access`,
      ),
    )
  })
})
