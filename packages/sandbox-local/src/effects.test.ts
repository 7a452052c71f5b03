import { SANDBOX_EFFECTS } from 'dsh-sandbox'
import { describe, expect, it } from 'vitest'
import { effectsOf, enforcementOf, openEffects, statementOf, type Layers } from './effects.ts'

function open(layers: Layers): readonly string[] {
  const words = effectsOf(layers)
  return SANDBOX_EFFECTS.filter((effect) => words[effect] === 'open')
}

const NETWORK = ['unix-pathname', 'tcp', 'udp', 'read']

describe('what is open', () => {
  it('everything, where nothing lies between', () => {
    expect(open({})).toEqual(SANDBOX_EFFECTS)
  })

  it('under bubblewrap: the network, and abstract sockets unless Landlock scopes them', () => {
    expect(open({ mounts: true })).toEqual([
      'special-files',
      'unix-pathname',
      'unix-abstract',
      'tcp',
      'udp',
      'read',
    ])
    expect(open({ mounts: true, landlockAbi: 5 })).toContain('unix-abstract')
    expect(open({ mounts: true, landlockAbi: 6, nodeFilter: true })).toEqual(NETWORK)
  })

  it.each([
    [1, ['truncate', 'metadata', 'device-ioctl', 'signal-host', 'process-visibility', 'unix-abstract']],
    [2, ['truncate', 'metadata', 'device-ioctl', 'signal-host', 'process-visibility', 'unix-abstract']],
    [3, ['metadata', 'device-ioctl', 'signal-host', 'process-visibility', 'unix-abstract']],
    [4, ['metadata', 'device-ioctl', 'signal-host', 'process-visibility', 'unix-abstract']],
    [5, ['metadata', 'signal-host', 'process-visibility', 'unix-abstract']],
    [6, ['metadata', 'process-visibility']],
    [7, ['metadata', 'process-visibility']],
    [99, ['metadata', 'process-visibility']],
  ])('under Landlock alone at ABI %d', (landlockAbi, expected) => {
    expect(open({ landlockAbi, nodeFilter: true }).toSorted()).toEqual([...expected, ...NETWORK].toSorted())
  })
})

it('under a seatbelt profile: devices, tracing, what is seen, and the network', () => {
  expect(open({ seatbelt: true })).toEqual([
    'device-ioctl',
    'ptrace-host',
    'process-visibility',
    'unix-pathname',
    'unix-abstract',
    'tcp',
    'udp',
    'read',
  ])
})

describe('enforcement', () => {
  it('is full exactly when every file effect is enforced', () => {
    const enforcement = (layers: Layers) => statementOf({ nodeFilter: true, ...layers }).enforcement
    expect(enforcement({ mounts: true })).toBe('full')
    expect(enforcement({ mounts: true, nodeFilter: false })).toBe('partial')
    expect(enforcement({ landlockAbi: 7 })).toBe('partial')
    expect(enforcement({ landlockAbi: 7, metadataFilter: true })).toBe('full')
    expect(enforcement({ landlockAbi: 2, metadataFilter: true })).toBe('partial')
    expect(statementOf({ seatbelt: true }).enforcement).toBe('full')
    const full = effectsOf({ mounts: true, landlockAbi: 7, nodeFilter: true })
    for (const effect of ['write', 'create', 'remove', 'rename', 'truncate', 'metadata', 'special-files'])
      expect(enforcementOf({ ...full, [effect]: 'open' })).toBe('partial')
    expect(enforcementOf({ ...full, 'signal-host': 'open' })).toBe('full')
  })
})

describe('requirements', () => {
  it('name what is open, and take silence and unknown words for open', () => {
    const effects = effectsOf({ mounts: true })
    expect(openEffects([], undefined)).toEqual([])
    expect(openEffects(['write', 'metadata'], effects)).toEqual([])
    expect(openEffects(['write', 'tcp', 'read'], effects)).toEqual(['tcp', 'read'])
    expect(openEffects(['write'], undefined)).toEqual(['write'])
    // @ts-expect-error: a caller without types
    expect(openEffects(['wriet', 'toString'], effects)).toEqual(['wriet', 'toString'])
  })
})
