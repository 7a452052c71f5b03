/**
 * From the words on the command line to one typed value. Pure: prints nothing, reads nothing, ends nothing; a help or
 * version text is a value like the others. What was not understood is a {@link UsageError} in one line.
 */

import { Command, CommanderError } from 'commander'
import {
  isSandboxMode,
  SANDBOX_EFFECTS,
  SANDBOX_BACKENDS,
  SANDBOX_MODES,
  type SandboxBackend,
  type SandboxEffect,
  type SandboxMode,
} from 'dsh-sandbox'
import { LONGEST_TIMEOUT_MS, SHIPPED_PROFILES } from 'dsh-sandbox-profiles'
import { EXIT_STATUS_HELP } from './exit-status.ts'

/** `custom` is an operator's own runner: a config names it, a command line cannot. */
export const BACKEND_CHOICES = [
  'auto',
  ...SANDBOX_BACKENDS.filter((backend): backend is Exclude<SandboxBackend, 'custom'> => backend !== 'custom'),
] as const
export type BackendChoice = (typeof BACKEND_CHOICES)[number]

/** `dsh-sandbox run`. An absent member was not given; a profile or a default decides. */
export interface RunInvocation {
  readonly kind: 'run'
  /** The program and its arguments; never empty. */
  readonly argv: readonly [string, ...string[]]
  readonly mode?: SandboxMode
  /** As spelled. */
  readonly workspace?: string
  readonly backend?: BackendChoice
  readonly timeoutMs?: number
  /** A shipped profile's name or a file, as spelled. */
  readonly profile?: string
  /** Effects that must be enforced; none were asked for when absent. */
  readonly requires?: readonly SandboxEffect[]
  readonly json: boolean
}

/** `dsh-sandbox doctor`. */
export interface DoctorInvocation {
  readonly kind: 'doctor'
  readonly json: boolean
}

/** A help or version text that was asked for. */
export interface TextInvocation {
  readonly kind: 'text'
  readonly text: string
}

export type Invocation = RunInvocation | DoctorInvocation | TextInvocation

/** The command line is not understood; nothing was run. The message is one line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/**
 * Parses the arguments after the program's own name.
 * @throws {UsageError} an unknown word, a value out of range, or nothing to run.
 */
export function parseArguments(argv: readonly string[], version: string): Invocation {
  const heard: Invocation[] = []
  const program = grammar(version, (invocation) => heard.push(invocation))
  try {
    program.parse(argv, { from: 'user' })
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error
    if (error.exitCode !== 0) throw usageError(error, program, argv)
  }
  return heard.reduce(joined)
}

/** A help text comes in pieces. */
function joined(first: Invocation, next: Invocation): Invocation {
  if (first.kind !== 'text' || next.kind !== 'text')
    throw new Error('one command line led to two invocations')
  return { kind: 'text', text: first.text + next.text }
}

/** The options of `run` as commander hands them over: text, not yet judged. */
interface RunFlags {
  readonly c?: string
  readonly mode?: string
  readonly workspace?: string
  readonly backend?: string
  readonly timeout?: string
  readonly profile?: string
  readonly require?: readonly string[]
  readonly json?: true
}

function grammar(version: string, found: (invocation: Invocation) => void): Command {
  const program = new Command('dsh-sandbox')
    .description('Runs a command confined by bubblewrap, Landlock or sandbox-exec, or not at all.')
    .version(version)
    .exitOverride()
    .showSuggestionAfterError(false)
    .configureOutput({ writeOut: (text) => found({ kind: 'text', text }), writeErr: () => undefined })
    .enablePositionalOptions()
    .addHelpText('after', EXIT_STATUS_HELP)
  // Commands made here take the settings above along.
  program
    .command('run')
    .description('Run a command, or with -c a bash script, and exit as it does.')
    .usage(
      '[options] [--] COMMAND [ARGUMENT...]\n       dsh-sandbox run [options] -c SCRIPT [NAME [ARGUMENT...]]',
    )
    .argument('[command...]', 'the program and its arguments; with -c they become $0 $1 ... of the script')
    .option('-c <script>', 'run this text with bash')
    .option('--mode <mode>', `${SANDBOX_MODES.join(', ')} (default: read-only)`)
    .option('--workspace <dir>', 'what workspace-write may change (default: the current directory)')
    .option('--backend <name>', `${BACKEND_CHOICES.join(', ')} (default: auto)`)
    .option('--timeout <ms>', 'end the command after this many milliseconds (default: no limit)')
    .option(
      '--profile <name|file>',
      `${SHIPPED_PROFILES.join(', ')}, or a JSON file; the flags above outrank it`,
    )
    .option(
      '--require <effect>',
      `run only if this is enforced (may be repeated): ${SANDBOX_EFFECTS.join(', ')}`,
      (word: string, before: readonly string[] = []) => [...before, word],
    )
    .option('--json', 'print one JSON object about the run instead of the output of the command')
    .passThroughOptions()
    .addHelpText('after', EXIT_STATUS_HELP)
    .action((operands: string[], flags: RunFlags) => found(runInvocation(operands, flags)))
  program
    .command('doctor')
    .description(
      'Say which backends work here, prove what each enforces, and how to mend the others; exit 0 when one works and every word holds.',
    )
    .option('--json', 'print the same as JSON')
    .action((flags: { json?: true }) => found({ kind: 'doctor', json: flags.json ?? false }))
  return program
}

function runInvocation(operands: readonly string[], flags: RunFlags): RunInvocation {
  return {
    kind: 'run',
    argv: commandOf(operands, flags.c),
    ...(flags.mode !== undefined && { mode: modeOf(flags.mode) }),
    ...(flags.workspace !== undefined && {
      workspace: nonEmpty('--workspace', flags.workspace, 'a directory'),
    }),
    ...(flags.backend !== undefined && { backend: backendOf(flags.backend) }),
    ...(flags.timeout !== undefined && { timeoutMs: timeoutOf(flags.timeout) }),
    ...(flags.profile !== undefined && { profile: nonEmpty('--profile', flags.profile, 'a name or a file') }),
    ...(flags.require !== undefined && { requires: flags.require.map(effectOf) }),
    json: flags.json ?? false,
  }
}

function commandOf(operands: readonly string[], script: string | undefined): RunInvocation['argv'] {
  if (script !== undefined) return ['bash', '-c', script, ...operands]
  const [program, ...rest] = operands
  if (program === undefined)
    throw new UsageError('no command given; allowed: run [options] -- COMMAND..., or run [options] -c SCRIPT')
  return [nonEmpty('COMMAND', program, 'a program'), ...rest]
}

function modeOf(text: string): SandboxMode {
  if (isSandboxMode(text)) return text
  throw notAllowed('--mode', text, SANDBOX_MODES.join(', '))
}

function backendOf(text: string): BackendChoice {
  const choice = BACKEND_CHOICES.find((backend) => backend === text)
  if (choice !== undefined) return choice
  throw notAllowed('--backend', text, BACKEND_CHOICES.join(', '))
}

function effectOf(text: string): SandboxEffect {
  const effect = SANDBOX_EFFECTS.find((one) => one === text)
  if (effect !== undefined) return effect
  throw notAllowed('--require', text, SANDBOX_EFFECTS.join(', '))
}

function timeoutOf(text: string): number {
  const timeoutMs = /^[1-9]\d*$/.test(text) ? Number(text) : 0
  if (timeoutMs >= 1 && timeoutMs <= LONGEST_TIMEOUT_MS) return timeoutMs
  throw notAllowed('--timeout', text, `a whole number of milliseconds from 1 to ${LONGEST_TIMEOUT_MS}`)
}

function nonEmpty(name: string, text: string, allowed: string): string {
  if (text !== '') return text
  throw notAllowed(name, text, allowed)
}

function notAllowed(name: string, text: string, allowed: string): UsageError {
  return new UsageError(`${name} cannot be ${JSON.stringify(text)}; allowed: ${allowed}`)
}

/** Commander's own complaints in one line, with what would have been allowed. */
function usageError(error: CommanderError, program: Command, argv: readonly string[]): UsageError {
  const fault = error.message.replace(/^error: /, '')
  const command = program.commands.find((candidate) => candidate.name() === argv[0]) ?? program
  switch (error.code) {
    case 'commander.help':
      return new UsageError(`no command given; allowed: ${commandNames(program)}`)
    case 'commander.unknownCommand':
      return new UsageError(`${fault}; allowed: ${commandNames(program)}`)
    case 'commander.unknownOption':
      return new UsageError(`${fault}; allowed: ${optionNames(command)}`)
    default:
      return new UsageError(
        `${fault}; see dsh-sandbox ${command === program ? '' : `${command.name()} `}--help`,
      )
  }
}

function commandNames(program: Command): string {
  return program.commands.map((command) => command.name()).join(', ')
}

function optionNames(command: Command): string {
  return [...command.options.map((option) => option.long ?? option.short), '--help'].join(', ')
}
