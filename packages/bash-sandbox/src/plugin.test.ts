import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import local from 'dsh-bash-local'
import type { BashExecutor } from 'dsh-bash'
import type { SandboxProvider } from 'dsh-sandbox'
// oxlint-disable-next-line no-restricted-imports -- what is tested here is the two of them together
import * as sandboxLocal from 'dsh-sandbox-local'
import * as bashSandbox from './index.ts'
import { skipWithout } from './testing/needs.ts'

const { default: provider } = sandboxLocal
const { default: sandbox } = bashSandbox

/** The part of a harness's context that plugins use: services by name, each registered once. */
class Context {
  readonly services = new Map<string, unknown>()

  provide(name: string, value: unknown): void {
    if (this.services.has(name)) throw new Error(`service "${name}" has been registered`)
    this.services.set(name, value)
  }

  // Whoever injected the service knows what it is; the map does not.
  get sandbox(): SandboxProvider {
    return this.services.get('sandbox') as SandboxProvider
  }
  get bash(): BashExecutor {
    return this.services.get('bash') as BashExecutor
  }
}

let ws: string
beforeEach(() => {
  ws = realpathSync(mkdtempSync('/var/tmp/dsh-test-plugin-'))
})
afterEach(() => rmSync(ws, { recursive: true }))

describe.each([
  ['dsh-bash-local', local, []],
  ['dsh-sandbox-local', provider, []],
  ['dsh-bash-sandbox', sandbox, ['sandbox']],
] as const)('%s', (name, plugin, inject) => {
  it('exports a plugin by default', () => {
    expect(Object.keys(plugin).toSorted()).toEqual(['Config', 'apply', 'inject', 'name'])
    expect([plugin.name, plugin.inject]).toEqual([name, inject])
  })

  it('has an apply that no host takes for a class, whose answer would then be dropped', () => {
    expect(Object.hasOwn(plugin.apply, 'prototype')).toBe(false)
  })

  it('has a Config that validates in this turn', () => {
    const standard = plugin.Config['~standard']
    expect(standard.version).toBe(1)
    const good = standard.validate({})
    expect(good).not.toBeInstanceOf(Promise)
    expect(good).toHaveProperty('value')
    expect(standard.validate(undefined)).toHaveProperty('value')
  })
})

describe('the path of a bad key', () => {
  const pathsOf = (result: unknown) =>
    (result as { issues?: readonly { path?: unknown }[] }).issues?.map(({ path }) => path)

  it.each([
    [local, { graceMs: 'soon' }, ['graceMs']],
    [provider, { probeTimeoutMs: 0 }, ['probeTimeoutMs']],
    [provider, { untrustedRoots: ['/a', 'b'] }, ['untrustedRoots', 1]],
    [sandbox, { mode: 'full' }, ['mode']],
    [sandbox, { workspaceRoot: 'ws' }, ['workspaceRoot']],
    [sandbox, { timeoutMs: -1 }, ['timeoutMs']],
    [sandbox, { cwd: './x' }, ['cwd']],
  ])('is named (%#)', (plugin, config, path) => {
    expect(pathsOf(plugin.Config['~standard'].validate(config))).toEqual([path])
  })

  it.each([local, provider, sandbox])('an unknown key is refused, never ignored (%#)', (plugin) => {
    const result = plugin.Config['~standard'].validate({ sandboxMode: 'danger-full-access' })
    expect(JSON.stringify(result)).toContain('sandboxMode')
    expect(result).toHaveProperty('issues')
  })
})

describe('composed', () => {
  beforeEach(({ skip }) => skipWithout(skip, 'bwrap or landlock'))

  it('the sandbox and the executor confine together, under both names, and go together', async () => {
    const context = new Context()
    const endProvider = await provider.apply(context, provider.Config.parse({}))
    const endExecutor = sandbox.apply(context, sandbox.Config.parse({ workspaceRoot: ws }))
    expect([...context.services.keys()]).toEqual(['sandbox', 'bash', 'shell'])
    expect(context.services.get('shell')).toBe(context.bash)
    expect(context.bash.sandboxMode).toBe('read-only')
    const result = await context.bash.run(context.bash.resolve({ command: 'pwd; touch x' }))
    expect(result).toMatchObject({
      exitCode: 1,
      stdout: { text: `${ws}\n` },
      sandbox: { mode: 'read-only', denied: true },
    })
    await endExecutor()
    await endProvider()
    await expect(context.bash.run(context.bash.resolve({ command: 'true' }))).rejects.toThrow('disposed')
  })

  it('their disposal ends what still runs and removes private state', async () => {
    const context = new Context()
    const state = join(ws, 'state')
    mkdirSync(state)
    const endProvider = await provider.apply(context, { stateParent: state })
    const endExecutor = sandbox.apply(context, sandbox.Config.parse({ workspaceRoot: '/usr' }))
    const running = context.bash.start(context.bash.resolve({ command: 'sleep 60' }))
    expect(running.status).toBe('running')
    expect(readdirSync(state)).toHaveLength(1)
    await endExecutor()
    expect(running.status).toBe('killed')
    await endProvider()
    expect(readdirSync(state)).toEqual([])
  })
})

it('the local executor stands in the same places and confines nothing', async () => {
  const context = new Context()
  const end = local.apply(context, { cwd: ws })
  expect([...context.services.keys()]).toEqual(['bash', 'shell'])
  expect(context.bash.sandboxMode).toBeUndefined()
  expect((await context.bash.run(context.bash.resolve({ command: 'pwd' }))).stdout.text).toBe(`${ws}\n`)
  const running = context.bash.start(context.bash.resolve({ command: 'sleep 60' }))
  await end()
  expect(running.status).toBe('killed')
})
