/**
 * Looks at a world and says where it differs from a scene, in words. Reading only; the order of the answers is the order
 * of importance: files first, then what the command left.
 */

import { lstatSync, readFileSync, type Stats } from 'node:fs'
import type { Scene, Words } from './corpus.ts'
import type { Ending } from './ending.ts'
import { expandPlaces, pathIn, type World } from './world.ts'

type Differences = readonly string[]

/** `undefined` when there is nothing, or nothing that may be seen. */
function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path)
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

function isAbsence(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}

function textOf(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

const KIND_TESTS = [
  ['file', (stats: Stats) => stats.isFile()],
  ['directory', (stats: Stats) => stats.isDirectory()],
  ['symlink', (stats: Stats) => stats.isSymbolicLink()],
  ['fifo', (stats: Stats) => stats.isFIFO()],
  ['socket', (stats: Stats) => stats.isSocket()],
  ['char', (stats: Stats) => stats.isCharacterDevice()],
  ['block', (stats: Stats) => stats.isBlockDevice()],
] as const

function kindOf(stats: Stats): string {
  return KIND_TESTS.find(([, holds]) => holds(stats))?.[0] ?? 'unknown'
}

function show(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 400 ? `${text.slice(0, 400)}…` : text
}

function unequal(subject: string, expected: unknown, actual: unknown): Differences {
  return Object.is(expected, actual) ? [] : [`${subject}: expected ${show(expected)}, found ${show(actual)}`]
}

/** Compares one member of the scene, place by place. */
function each<Value>(
  world: World,
  table: Readonly<Record<string, Value>> | undefined,
  what: string,
  look: (path: string) => unknown,
  expected: (value: Value) => unknown = (value) => value,
): Differences {
  return Object.entries(table ?? {}).flatMap(([place, value]) =>
    unequal(`${what} of ${place}`, expected(value), look(pathIn(world, place))),
  )
}

async function terminalDifferences(
  world: World,
  { shown, typed }: NonNullable<Scene['terminal']>,
): Promise<Differences> {
  const found = await world.terminal?.look()
  return [
    ...unequal('shown on the terminal', shown, found?.shown),
    ...unequal('typed and unread', typed, found?.typed),
  ]
}

/** Where the files and processes of `world` differ from `scene`. */
export async function worldDifferences(world: World, scene: Scene): Promise<Differences> {
  const ofStats = (fact: (stats: Stats) => unknown) => (path: string) => {
    const stats = statOf(path)
    return stats === undefined ? 'nothing there' : fact(stats)
  }
  return [
    ...(scene.absent ?? []).flatMap((at) =>
      statOf(pathIn(world, at)) ? [`${at} should not exist, but does`] : [],
    ),
    ...(scene.present ?? []).flatMap((at) =>
      statOf(pathIn(world, at)) ? [] : [`${at} should exist, but does not`],
    ),
    ...each(world, scene.contents, 'contents', textOf, (text) => expandPlaces(world, text)),
    ...each(
      world,
      scene.sizes,
      'size',
      ofStats((stats) => stats.size),
    ),
    ...each(
      world,
      scene.modes,
      'mode',
      ofStats((stats) => (stats.mode & 0o7777).toString(8).padStart(4, '0')),
    ),
    ...each(
      world,
      scene.owners,
      'owner',
      ofStats((stats) => stats.uid),
    ),
    ...each(
      world,
      scene.mtimes,
      'mtime',
      ofStats((stats) => Math.floor(stats.mtimeMs / 1000)),
    ),
    ...each(world, scene.kinds, 'kind', ofStats(kindOf)),
    ...(scene.victim === undefined ? [] : unequal('victim', scene.victim, await world.victim?.state())),
    ...(scene.victimLimits === undefined
      ? []
      : unequal("the victim's limits", scene.victimLimits, world.victim?.limits())),
    ...(scene.queue === undefined ? [] : unequal('queue', scene.queue, world.queue?.state())),
    ...(scene.terminal === undefined ? [] : await terminalDifferences(world, scene.terminal)),
  ]
}

function containing(stream: string, text: string, wanted: readonly string[] | undefined): Differences {
  return (wanted ?? []).flatMap((part) =>
    text.includes(part) ? [] : [`${stream} should have ${show(part)}, but is ${show(text)}`],
  )
}

function lacking(stream: string, text: string, unwanted: readonly string[] | undefined): Differences {
  return (unwanted ?? []).flatMap((part) =>
    text.includes(part) ? [`${stream} should not have ${show(part)}, but is ${show(text)}`] : [],
  )
}

/** Where the command's end and words differ. `spell` fills in what a text leaves open. */
export function wordDifferences(ending: Ending, words: Words, spell: (text: string) => string): Differences {
  const spelled = (texts: readonly string[] | undefined): readonly string[] => (texts ?? []).map(spell)
  return [
    ...(words.exit === undefined ? [] : unequal('exit', words.exit, ending.exit)),
    ...(words.signal === undefined ? [] : unequal('signal', words.signal, ending.signal)),
    ...(words.stdout === undefined ? [] : unequal('stdout', spell(words.stdout), ending.stdout)),
    ...(words.stdoutLength === undefined
      ? []
      : unequal('length of stdout', words.stdoutLength, ending.stdout.length)),
    ...containing('stdout', ending.stdout, spelled(words.stdoutHas)),
    ...lacking('stdout', ending.stdout, spelled(words.stdoutLacks)),
    ...(words.stderr === undefined ? [] : unequal('stderr', spell(words.stderr), ending.stderr)),
    ...containing('stderr', ending.stderr, spelled(words.stderrHas)),
  ]
}
