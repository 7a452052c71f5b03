/**
 * A case's world: a scratch tree, and where asked a victim process, a terminal, a canary folder in /tmp and the like. In:
 * an arrangement. Out: paths and the variables that name them. Everything that is made here is removed by {@link removeWorld}.
 */

import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Act, Arrangement } from './corpus.ts'
import { startVictim, type Victim } from './victim.ts'
import { emptyLeak } from './leak.ts'
import { makeQueue, type Queue } from './queue.ts'
import { openTerminal, type Terminal } from './terminal.ts'

/** One case's scratch. All paths are absolute and canonical. */
export interface World {
  readonly scratch: string
  readonly ws: string
  readonly outside: string
  /** Temp of commands that run without a sandbox. */
  readonly temp: string
  /** The folder behind descriptor 17, where there is one. */
  readonly leak: string | undefined
  readonly canary: string | undefined
  readonly victim: Victim | undefined
  readonly queue: Queue | undefined
  readonly shm: string | undefined
  readonly terminal: Terminal | undefined
}

const SCRATCH_PARENT = { 'var-tmp': () => '/var/tmp', tmp: () => '/tmp', home: homedir } as const

/** The absolute path of a place such as `ws/sub`. A path that is absolute already stays. */
export function pathIn(world: World, place: string): string {
  if (place.startsWith('/')) return place
  const [head = '', ...rest] = place.split('/')
  return join(anchor(world, head), ...rest)
}

function anchor(world: World, head: string): string {
  switch (head) {
    case 'ws':
    case 'outside':
    case 'temp':
    case 'scratch':
      return world[head]
    case 'leak':
      return arranged(world.leak, head)
    case 'home':
      return homedir()
    case 'canary':
    case 'shm':
      return arranged(world[head], head)
    case 'victim':
      return `/proc/${arranged(world.victim, head).pid}`
    default:
      throw new TypeError(`no such place: ${head}`)
  }
}

function arranged<Thing>(thing: Thing | undefined, name: string): Thing {
  if (thing === undefined) throw new TypeError(`a case that names its ${name} must arrange one`)
  return thing
}

/** The variables that name the world to a script. */
export function worldVariables(world: World): Record<string, string> {
  return {
    WS: world.ws,
    OUTSIDE: world.outside,
    ...(world.leak === undefined ? {} : { LEAK: world.leak }),
    ...(world.canary === undefined ? {} : { CANARY: world.canary }),
    ...(world.victim === undefined ? {} : { VICTIM_PID: String(world.victim.pid) }),
    ...(world.queue === undefined ? {} : { QUEUE_ID: String(world.queue.id) }),
    ...(world.shm === undefined ? {} : { SHM: world.shm }),
    ...(world.terminal === undefined ? {} : { TERMINAL: world.terminal.path }),
  }
}

/** `text` with `$WS` and its like replaced. */
export function expandPlaces(world: World, text: string): string {
  const variables = worldVariables(world)
  return text.replaceAll(/\$([A-Z_]+)/g, (spelled, name: string) => variables[name] ?? spelled)
}

/** Makes a world. `leak` is the folder behind the leaked descriptors, emptied for this case; absent: nothing leaks. */
export async function makeWorld(arrange: Arrangement, leak?: string): Promise<World> {
  const parent = realpathSync(SCRATCH_PARENT[arrange.under ?? 'var-tmp']())
  const scratch = mkdtempSync(join(parent, 'dsh-corpus-'))
  chmodSync(scratch, 0o755)
  const world: World = {
    scratch,
    ws: join(scratch, 'ws'),
    outside: join(scratch, 'outside'),
    temp: join(scratch, 'temp'),
    leak,
    canary: arrange.canary === true ? mkdtempSync('/tmp/dsh-canary-') : undefined,
    victim: arrange.victim === true ? startVictim() : undefined,
    queue: arrange.queue === true ? makeQueue() : undefined,
    shm: arrange.shm === true ? mkdtempSync('/dev/shm/dsh-corpus-') : undefined,
    terminal: arrange.terminal === true ? await openTerminal() : undefined,
  }
  for (const folder of [world.ws, world.outside, world.temp]) mkdirSync(folder)
  if (leak !== undefined) emptyLeak(leak)
  fillWorld(world, arrange)
  return world
}

function fillWorld(world: World, arrange: Arrangement): void {
  const at = (place: string): string => pathIn(world, place)
  const each = <Value>(
    table: Record<string, Value> | undefined,
    make: (path: string, value: Value) => void,
  ): void => {
    for (const [place, value] of Object.entries(table ?? {})) make(at(place), value)
  }
  for (const dir of arrange.dirs ?? []) mkdirSync(at(dir), { recursive: true })
  each(arrange.files, (path, text) => writeFileIn(path, expandPlaces(world, text)))
  each(arrange.links, (path, target) => symlinkSync(at(target), path))
  each(arrange.hardlinks, (path, target) => linkSync(at(target), path))
  for (const fifo of arrange.fifos ?? []) execFileSync('mkfifo', [at(fifo)])
  each(arrange.sharedObjects, (path, source) => buildSharedObject(path, expandPlaces(world, source)))
  each(arrange.owners, (path, uid) => chownSync(path, uid, uid))
  each(arrange.mtimes, (path, seconds) => utimesSync(path, seconds, seconds))
  each(arrange.modes, (path, mode) => chmodSync(path, Number.parseInt(mode, 8)))
}

function writeFileIn(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text, { mode: 0o644 })
}

function buildSharedObject(path: string, source: string): void {
  execFileSync('gcc', ['-shared', '-fPIC', '-x', 'c', '-o', path, '-'], { input: source })
}

/** What the harness itself does between two steps. */
export function actIn(world: World, act: Act): void {
  if ('rename' in act) renameSync(pathIn(world, act.rename[0]), pathIn(world, act.rename[1]))
  else if ('link' in act) symlinkSync(pathIn(world, act.link[1]), pathIn(world, act.link[0]))
  else rmSync(pathIn(world, act.remove), { recursive: true })
}

/** Ends the victim, the queue and the terminal, and removes every file of the world. */
export async function removeWorld(world: World): Promise<void> {
  await world.victim?.end()
  world.queue?.end()
  await world.terminal?.end()
  for (const folder of [world.scratch, world.canary, world.shm]) if (folder !== undefined) removeTree(folder)
}

/** A folder that was closed to its own owner keeps what is in it; what Node's rmSync makes of that differs by version. */
function removeTree(folder: string): void {
  execFileSync('chmod', ['-R', 'u+rwX', folder])
  rmSync(folder, { recursive: true, force: true })
}
