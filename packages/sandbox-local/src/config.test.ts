import { describe, expect, it } from 'vitest'
import { Config } from './config.ts'

/** Every fault as `path: message`, in order. */
function faults(input: unknown): readonly string[] {
  const parsed = Config.safeParse(input)
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`)
}

describe('defaults', () => {
  it('come for an absent and for an empty configuration', () => {
    const defaults = {
      backend: 'auto',
      runnerCommand: [],
      runnerFailureSignatures: [],
      probeTimeoutMs: 5000,
      probeRetryMs: 30_000,
    }
    expect(Config.parse(undefined)).toEqual(defaults)
    expect(Config.parse({})).toEqual(defaults)
  })

  it('an empty runnerCommand is none', () => {
    expect(faults({ runnerCommand: [], runnerFailureSignatures: [] })).toEqual([])
  })
})

describe("the harness family's own texts", () => {
  const notPositive = 'probeTimeoutMs: sandbox-local: probeTimeoutMs must be a positive finite number'
  const notSingleLine = 'sandbox-local: runnerFailureSignatures entries must be non-empty single-line strings'

  it.each([0, -1, Number.NaN, Number.POSITIVE_INFINITY, '5000', null])(
    'probeTimeoutMs %s',
    (probeTimeoutMs) => {
      expect(faults({ probeTimeoutMs })).toEqual([notPositive])
    },
  )

  it.each(['', '   ', '\t', 'one\ntwo', 'one\rtwo', 'one\n'])('runnerFailureSignatures entry %j', (entry) => {
    expect(faults({ runnerCommand: ['/opt/runner'], runnerFailureSignatures: ['runner: ', entry] })).toEqual([
      `runnerFailureSignatures.1: ${notSingleLine}`,
    ])
  })

  it('signatures without a runner', () => {
    expect(faults({ runnerFailureSignatures: ['runner: '] })).toEqual([
      'runnerFailureSignatures: sandbox-local: runnerFailureSignatures requires runnerCommand',
    ])
  })

  it('a runner without signatures', () => {
    expect(faults({ runnerCommand: ['/opt/runner'] })).toEqual([
      'runnerFailureSignatures: sandbox-local: runnerCommand requires at least one runnerFailureSignatures entry',
    ])
  })
})

describe('what else is refused, by its key', () => {
  it.each([
    [{ backend: 'docker' }, 'backend'],
    [{ probeRetryMs: 0 }, 'probeRetryMs'],
    [{ stateParent: 'state' }, 'stateParent'],
    [{ untrustedRoots: ['/ws', 'node_modules'] }, 'untrustedRoots.1'],
    [{ runnerCommand: 'bwrap' }, 'runnerCommand'],
    // Node's timers take a signed 32-bit count; a longer one would fire at once and fail every probe.
    [{ probeTimeoutMs: 2 ** 31 }, 'probeTimeoutMs'],
  ])('%j', (input, key) => {
    expect(faults(input).map((fault) => fault.split(': ')[0])).toEqual([key])
  })

  it('an unknown key', () => {
    expect(faults({ probeTimeout: 5 })).toEqual([': Unrecognized key: "probeTimeout"'])
  })

  it('synchronously, as Standard Schema wants it', () => {
    const result = Config['~standard'].validate({ probeTimeoutMs: -1 })
    expect(result).not.toBeInstanceOf(Promise)
    expect('issues' in result && result.issues?.map(({ path }) => path)).toEqual([['probeTimeoutMs']])
  })
})
