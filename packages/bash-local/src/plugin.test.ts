import { describe, expect, it } from 'vitest'
import type { BashExecutor } from 'dsh-bash'
import plugin from './index.ts'

describe('the plugin', () => {
  it('registers one executor under both names and disposes of it', async () => {
    const provided = new Map<string, unknown>()
    const dispose = plugin.apply({ provide: (name, value) => provided.set(name, value) }, { cwd: '/' })
    expect([...provided.keys()]).toEqual(['bash', 'shell'])
    expect(provided.get('bash')).toBe(provided.get('shell'))
    // The map holds whatever was provided; this is the one object.
    const executor = provided.get('bash') as BashExecutor
    expect(executor.sandboxMode).toBe(undefined)
    const spec = executor.resolve({ command: 'pwd' })
    expect(await executor.run(spec)).toEqual({
      exitCode: 0,
      signal: null,
      timedOut: false,
      aborted: false,
      timeoutMs: 120_000,
      stdout: { text: '/\n', truncated: false },
      stderr: { text: '', truncated: false },
    })
    await dispose()
    await expect(executor.run(spec)).rejects.toThrow('disposed')
  })

  it('says what it is', () => {
    expect([plugin.name, plugin.inject]).toEqual(['dsh-bash-local', []])
  })

  it('works behind a proxy, as a host may wrap a service', async () => {
    const provided = new Map<string, unknown>()
    const dispose = plugin.apply({ provide: (name, value) => provided.set(name, value) })
    // As above.
    const executor = new Proxy(provided.get('bash') as BashExecutor, {})
    const { stdout } = await executor.run(executor.resolve({ command: 'echo hi' }))
    expect(stdout.text).toBe('hi\n')
    await dispose()
  })
})
