import { SANDBOX_EFFECTS } from 'dsh-sandbox'
import { describe, expect, it } from 'vitest'
import { parseArguments, UsageError } from './arguments.ts'

const parse = (...argv: string[]) => parseArguments(argv, '9.8.7')

/** What the refusal of `argv` says. */
function refusal(...argv: string[]): string {
  try {
    parse(...argv)
  } catch (error) {
    if (error instanceof UsageError) return error.message
    throw error
  }
  throw new Error('nothing was refused')
}

describe('run', () => {
  it('takes every flag', () => {
    expect(
      parse(
        ...[
          'run',
          '--mode',
          'workspace-write',
          '--workspace',
          'ws',
          '--backend',
          'landlock',
          '--timeout',
          '2147483647',
        ],
        ...['--profile', './own.json', '--require', 'write', '--require', 'metadata'],
        ...['--json', '--', 'make', '-j2', '--mode'],
      ),
    ).toStrictEqual({
      kind: 'run',
      argv: ['make', '-j2', '--mode'],
      mode: 'workspace-write',
      workspace: 'ws',
      backend: 'landlock',
      timeoutMs: 2_147_483_647,
      profile: './own.json',
      requires: ['write', 'metadata'],
      json: true,
    })
  })

  it.each([
    ['nothing that was not said', ['run', '--', 'ls'], ['ls']],
    ['the options of the command alone', ['run', 'ls', '--json', '-c', 'x'], ['ls', '--json', '-c', 'x']],
    ['a later -- alone', ['run', '--', 'git', 'log', '--', 'file'], ['git', 'log', '--', 'file']],
    ['a -- after the command alone', ['run', 'env', '--', 'ls'], ['env', '--', 'ls']],
    ['empty arguments', ['run', '--', 'printf', '', ''], ['printf', '', '']],
    [
      'a script',
      ['run', '-c', 'echo "$0 $1"', 'name', '--json'],
      ['bash', '-c', 'echo "$0 $1"', 'name', '--json'],
    ],
    ['a script and --', ['run', '-c', 'x', '--', '-a'], ['bash', '-c', 'x', '-a']],
    ['an empty script', ['run', '-c', ''], ['bash', '-c', '']],
  ])('keeps %s', (_, argv, command) => {
    expect(parse(...argv)).toStrictEqual({ kind: 'run', argv: command, json: false })
  })

  it.each([
    [['run'], 'no command given; allowed: run [options] -- COMMAND..., or run [options] -c SCRIPT'],
    [['run', '--'], 'no command given; allowed: run [options] -- COMMAND..., or run [options] -c SCRIPT'],
    [['run', '--', ''], 'COMMAND cannot be ""; allowed: a program'],
    [['run', '-c'], "option '-c <script>' argument missing; see dsh-sandbox run --help"],
    [
      ['run', '--mode', 'rw', '--', 'ls'],
      '--mode cannot be "rw"; allowed: read-only, workspace-write, danger-full-access',
    ],
    [
      ['run', '--mode', 'a\nb', '--', 'ls'],
      '--mode cannot be "a\\nb"; allowed: read-only, workspace-write, danger-full-access',
    ],
    [
      ['run', '--backend', 'custom', '--', 'ls'],
      '--backend cannot be "custom"; allowed: auto, bwrap, landlock, seatbelt',
    ],
    [
      ['run', '--require', 'wriet', '--', 'ls'],
      `--require cannot be "wriet"; allowed: ${SANDBOX_EFFECTS.join(', ')}`,
    ],
    [['run', '--workspace', '', '--', 'ls'], '--workspace cannot be ""; allowed: a directory'],
    [['run', '--profile', '', '--', 'ls'], '--profile cannot be ""; allowed: a name or a file'],
    [
      ['run', '--frob', '--', 'ls'],
      "unknown option '--frob'; allowed: -c, --mode, --workspace, --backend, --timeout, --profile, --require, --json, --help",
    ],
  ])('%j is refused', (argv, message) => {
    expect(refusal(...argv)).toBe(message)
  })

  it.each(['0', '-5', 'NaN', '1.5', '1e3', '0x10', '', ' 5', '2147483648', 'Infinity'])(
    'a timeout of %j is refused',
    (timeout) => {
      expect(refusal('run', '--timeout', timeout, '--', 'ls')).toBe(
        `--timeout cannot be ${JSON.stringify(timeout)}; allowed: a whole number of milliseconds from 1 to 2147483647`,
      )
    },
  )
})

describe('doctor', () => {
  it('prints for a person or as JSON', () => {
    expect(parse('doctor')).toStrictEqual({ kind: 'doctor', json: false })
    expect(parse('doctor', '--json')).toStrictEqual({ kind: 'doctor', json: true })
  })

  it('takes nothing else', () => {
    expect(refusal('doctor', '--fix')).toBe("unknown option '--fix'; allowed: --json, --help")
    expect(refusal('doctor', 'bwrap')).toBe(
      "too many arguments for 'doctor'. Expected 0 arguments but got 1.; see dsh-sandbox doctor --help",
    )
  })
})

describe('the program', () => {
  it('knows its version', () => {
    expect(parse('--version')).toStrictEqual({ kind: 'text', text: '9.8.7\n' })
  })

  it.each([['--help'], ['-h'], ['help']])('explains itself: %s', (word) => {
    const asked = parse(word)
    expect(asked.kind === 'text' && asked.text.split('\n')[0]).toBe('Usage: dsh-sandbox [options] [command]')
  })

  it.each([[['run', '--help', '--', 'ls']], [['help', 'run']]])('explains run: %j', (argv) => {
    const asked = parse(...argv)
    expect(asked.kind === 'text' && asked.text.split('\n')[0]).toBe(
      'Usage: dsh-sandbox run [options] [--] COMMAND [ARGUMENT...]',
    )
  })

  it.each([
    [[], 'no command given; allowed: run, doctor'],
    [['exec'], "unknown command 'exec'; allowed: run, doctor"],
    [['--frob'], "unknown option '--frob'; allowed: --version, --help"],
  ])('%j is refused', (argv, message) => {
    expect(refusal(...argv)).toBe(message)
  })
})
