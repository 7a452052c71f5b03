/**
 * Every system call of the launcher fails once, and the launcher is killed at every one: PROGRAM then runs as confined as
 * ever, or not at all, and whoever started it is told. strace makes the calls fail; what there is to fail is read from a
 * run in which none does.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { expect, it } from 'vitest'
import { AS_ROOT, IDENTITIES, NOBODY, run, useBench, type Identity } from '../test/bench.ts'
import { DENIABLE_CALLS } from './index.ts'

const bench = useBench()

const HAS_STRACE = run(['bash', '-c', 'command -v strace']).status === 0

/** At a time. */
const WORKERS = 3
/** After which a run is one that hangs. */
const PATIENCE_MS = 15_000
const ENDED_BY_ITSELF = 7

/**
 * `$1` is granted, `$2` is not, descriptor 4 is a leaked one, `$3` is the host's mount namespace. Tries every way out, and
 * writes down what it finds itself confined by.
 */
const PROGRAM = `
  exec 5>"$1/report"
  { echo written >"$2/written"; } 2>/dev/null
  { echo leaked >&4; } 2>/dev/null
  chmod 0777 "$2/mode" 2>/dev/null
  while read -r name value; do
    case $name in NoNewPrivs:|CapInh:|CapPrm:|CapEff:|CapBnd:|CapAmb:|Seccomp:) echo "$name $value" >&5;; esac
  done </proc/self/status
  case $(readlink /proc/self/ns/mnt) in
    "$3") echo "mounts of the host" >&5;;
    mnt:*) echo "mounts of its own" >&5;;
  esac
  exit ${ENDED_BY_ITSELF}
`

/** A run's own folders. */
interface World {
  readonly inside: string
  readonly outside: string
}

/** What can be seen afterwards. */
interface Seen {
  /** Of the world outside: false when it is untouched. */
  readonly written: boolean
  readonly leaked: boolean
  readonly chmodded: boolean
  /** Lines that PROGRAM wrote; none when it never ran. */
  readonly found: readonly string[]
  readonly status: number | null
  readonly signal: string | null
  readonly stderr: string
  readonly told: string
  /** It had to be ended. */
  readonly hung: boolean
}

const makeWorld = (name: string, identity: Identity): World => {
  const world = { inside: join(bench.workspace, name), outside: join(bench.outside, name) }
  for (const folder of [world.inside, world.outside]) {
    mkdirSync(folder)
    chownSync(folder, identity.uid, identity.uid)
  }
  for (const file of ['leak', 'mode']) {
    writeFileSync(join(world.outside, file), '')
    chownSync(join(world.outside, file), identity.uid, identity.uid)
    chmodSync(join(world.outside, file), 0o644)
  }
  return world
}

const contentOf = (path: string): string | undefined => {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    // PROGRAM has not made it.
    return undefined
  }
}

/** A way to start PROGRAM, as a backend does or a consumer may. */
interface Shape {
  readonly shape: string
  /** How the lines begin that tell what this shape promises. */
  readonly promises: RegExp
  readonly options: (world: World) => readonly string[]
}

const grants = ({ inside }: World) => {
  const { dev, ino } = statSync(inside, { bigint: true })
  const pinned = ['--rw-pinned', `${dev}:${ino}`, inside]
  return [
    '--setenv',
    `TMPDIR=${inside}`,
    '--ro',
    '/',
    ...pinned,
    '--dev',
    '/dev/null',
    '--dev',
    '/dev/missing',
  ]
}
const DENY = DENIABLE_CALLS.flatMap((group) => ['--deny', group])

const SHAPES: readonly Shape[] = [
  {
    shape: 'supervised and guarded',
    promises: /./,
    options: (world) => ['--supervise', '--guard', ...DENY, '--status-fd', '3', ...grants(world)],
  },
  { shape: 'by exec', promises: /./, options: (world) => [...DENY, '--status-fd', '3', ...grants(world)] },
  {
    shape: 'before another runner',
    // Where it may not make a mount namespace alone it makes a user namespace as well, with capabilities of its own.
    promises: /^mounts/,
    options: () => [
      '--passive',
      '--ignore-signals',
      ...(AS_ROOT ? ['--private-mounts'] : []),
      '--status-fd',
      '3',
    ],
  },
]

const HOST_MOUNTS = run(['readlink', '/proc/self/ns/mnt']).stdout.trim()

/** Runs PROGRAM in a world of its own, below `front`. */
async function outcomeOf(
  name: string,
  identity: Identity,
  front: readonly string[],
  options: ((world: World) => readonly string[]) | undefined,
): Promise<Seen> {
  const world = makeWorld(name, identity)
  const leak = openSync(join(world.outside, 'leak'), 'a')
  const launcher = options === undefined ? [] : [bench.launcher, ...options(world), '--']
  const script = ['/bin/sh', '-c', PROGRAM, 'sh', world.inside, world.outside, HOST_MOUNTS]
  const [program = '', ...args] = [...identity.prefix, ...front, ...launcher, ...script]
  const child = spawn(program, args, {
    cwd: '/',
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', leak],
  })
  closeSync(leak)
  let hung = false
  const patience = setTimeout(() => {
    hung = true
    process.kill(-(child.pid ?? 0), 'SIGKILL')
  }, PATIENCE_MS)
  // Descriptors 2 and 3 were opened as pipes from the child to here.
  const words = Promise.all([text(child.stderr as Readable), text(child.stdio[3] as Readable)])
  const [status, signal] = (await once(child, 'exit')) as [number | null, string | null]
  const [stderr, told] = await words
  clearTimeout(patience)
  const seen = {
    written: contentOf(join(world.outside, 'written')) !== undefined,
    leaked: contentOf(join(world.outside, 'leak')) !== '',
    chmodded: (statSync(join(world.outside, 'mode')).mode & 0o777) !== 0o644,
    found: (contentOf(join(world.inside, 'report')) ?? '').split('\n').filter((line) => line !== ''),
    ...{ status, signal, stderr, told, hung },
  }
  for (const folder of [world.inside, world.outside]) rmSync(folder, { recursive: true })
  return seen
}

/** What a faulty run has against it; none when it was confined, or nothing ran and that was told. */
function faultsOf(seen: Seen, good: Seen, promises: RegExp): readonly string[] {
  // What is short of descriptors or processes may run and not get as far as writing down what it finds.
  const handedOver = seen.told.startsWith('ready\n') || seen.written || seen.status === ENDED_BY_ITSELF
  const ran = seen.found.length > 0 || handedOver
  const outside = ['written', 'leaked', 'chmodded'] as const
  const died = seen.signal !== null
  const told = died || /^failed [a-z-]+ \d+ \S+$/m.test(seen.told) || seen.stderr.startsWith('landlock-run: ')
  return [
    ...outside.filter((act) => seen[act] && !good[act]),
    ...seen.found
      .filter((line) => promises.test(line) && !good.found.includes(line))
      .map((line) => `ran with ${line}`),
    ...(seen.hung ? ['hung'] : []),
    ...(seen.status === 0 ? ['a status of success'] : []),
    ...(!ran && !told ? ['nothing ran, and nobody was told'] : []),
  ]
}

/** Calls that no kernel lets fail, and those that the C library makes before main() and does without. */
const NEVER_FAIL = ['exit_group', 'getpid', 'getppid', 'getuid', 'geteuid', 'getgid', 'getegid', 'umask']
const OF_THE_C_LIBRARY = [
  'brk',
  'arch_prctl',
  'set_tid_address',
  'set_robust_list',
  'rseq',
  'getrandom',
  'mprotect',
  'munmap',
]
/** Where a call is made for each of 64 signals, or of some forty capabilities: the first ones, some, and the last ones. */
const SAMPLED: Readonly<Record<string, (nth: number) => boolean>> = {
  rt_sigaction: (nth) => nth <= 2 || nth % 16 === 0 || nth >= 64,
  prctl: (nth) => nth <= 10 || nth % 10 === 0 || nth >= 76,
}

interface Point {
  readonly call: string
  /** Which one of a process, from 1. */
  readonly nth: number
}

/** Every call that a process of the launcher makes. Those of PROGRAM come to be when it has, or become it. */
function pointsIn(log: string): readonly Point[] {
  const counts = new Map<string, number>()
  const launchers = new Set<string>()
  let programStarted = false
  for (const line of log.split('\n')) {
    const [, pid = '', call = '', rest = ''] = /^(\d+)\s+(\w+)\((.*)/.exec(line) ?? []
    if (!programStarted) launchers.add(pid)
    if (call === '' || !launchers.has(pid)) continue
    const key = `${pid} ${call}`
    counts.set(key, (counts.get(key) ?? 0) + 1)
    if (call !== 'execve' || !rest.startsWith('"/bin/sh"')) continue
    programStarted = true
    launchers.delete(pid)
  }
  const most = new Map<string, number>()
  for (const [key, count] of counts) {
    const call = key.split(' ')[1] ?? ''
    most.set(call, Math.max(count, most.get(call) ?? 0))
  }
  return [...most].flatMap(([call, count]) =>
    NEVER_FAIL.includes(call) || OF_THE_C_LIBRARY.includes(call)
      ? []
      : Array.from({ length: count }, (_, at) => ({ call, nth: at + 1 })).filter(
          ({ nth }) => SAMPLED[call]?.(nth) ?? true,
        ),
  )
}

const ERRNOS = ['EPERM', 'ENOMEM', 'EMFILE', 'EAGAIN'] as const

/** What befalls a point: two of the errnos, which take turns, and an end. */
const blowsAt = ({ call, nth }: Point, at: number): readonly string[] => [
  `${call}:error=${ERRNOS[at % 4]}:when=${nth}`,
  `${call}:error=${ERRNOS[(at + 1 + ((at >> 2) % 3)) % 4]}:when=${nth}`,
  `${call}:signal=KILL:when=${nth}`,
]

/** Runs `work` for all items, some at a time. */
async function forAll<Item>(items: readonly Item[], work: (item: Item) => Promise<void>): Promise<void> {
  const left = [...items]
  const worker = async () => {
    for (let item = left.pop(); item !== undefined; item = left.pop()) await work(item)
  }
  await Promise.all(Array.from({ length: WORKERS }, worker))
}

const CASES = IDENTITIES.flatMap((identity) =>
  SHAPES.map((shape) => ({ who: identity.name, identity, ...shape })),
)

it.runIf(HAS_STRACE).each(CASES)(
  'PROGRAM is confined or does not run, whatever fails: $shape, as $who',
  { timeout: 120_000 },
  async ({ identity, options, promises }) => {
    bench.giveTo(identity)
    const open = await outcomeOf('open', identity, [], undefined)
    expect(open).toMatchObject({ written: true, leaked: true, chmodded: true, status: ENDED_BY_ITSELF })

    const log = join(bench.workspace, 'log')
    const good = await outcomeOf('good', identity, ['strace', '-f', '-o', log], options)
    const confined = options({ inside: bench.workspace, outside: bench.outside }).includes('--ro')
    expect(good).toMatchObject({
      ...(confined ? { written: false, chmodded: false } : {}),
      leaked: false,
      status: ENDED_BY_ITSELF,
      stderr: '',
    })
    const points = pointsIn(readFileSync(log, 'latin1'))
    expect(points.length).toBeGreaterThan(15)

    const faults: string[] = []
    const blows = points.flatMap(blowsAt)
    await forAll(blows, async (blow) => {
      const front = ['strace', '-f', '-qq', '-o', '/dev/null', '-e', `inject=${blow}`]
      const seen = await outcomeOf(blow.replaceAll(/\W/g, '-'), identity, front, options)
      faults.push(...faultsOf(seen, good, promises).map((fault) => `${blow}: ${fault}`))
    })
    expect(faults.toSorted()).toEqual([])
  },
)

/** Descriptors that a process may have: none at first, and more than the launcher ever needs at last. */
const FEW_DESCRIPTORS = Array.from({ length: 14 }, (_, limit) => limit)

it.each(CASES)('nor with few descriptors: $shape, as $who', async ({ identity, options, promises }) => {
  bench.giveTo(identity)
  const good = await outcomeOf('good', identity, [], options)
  const faults: string[] = []
  await forAll(FEW_DESCRIPTORS, async (limit) => {
    const seen = await outcomeOf(
      `nofile-${limit}`,
      identity,
      ['prlimit', `--nofile=${limit}:${limit}`],
      options,
    )
    // With too few for the C library, prlimit itself cannot start the launcher.
    const untold = limit > 4 ? [] : ['nothing ran, and nobody was told']
    faults.push(
      ...faultsOf(seen, good, promises)
        .filter((fault) => !untold.includes(fault))
        .map((fault) => `${limit}: ${fault}`),
    )
  })
  expect(faults.toSorted()).toEqual([])
})

it.runIf(AS_ROOT).each(SHAPES)('nor where no process can be made: $shape', async ({ options, promises }) => {
  bench.giveTo(NOBODY)
  const good = await outcomeOf('good', NOBODY, [], options)
  const seen = await outcomeOf('nproc', NOBODY, ['prlimit', '--nproc=1:1'], options)
  expect(faultsOf(seen, good, promises)).toEqual([])
  if (options({ inside: '/', outside: '/' }).includes('--supervise'))
    expect(seen.told).toBe('failed fork 11 -\n')
})

const MANY_GRANTS = 20_000

it('nor with twenty thousand grants', { timeout: 60_000 }, async () => {
  const [identity] = IDENTITIES
  if (identity === undefined) throw new Error('somebody runs this')
  bench.giveTo(identity)
  const many = join(bench.workspace, 'granted')
  mkdirSync(many)
  const files = Array.from({ length: MANY_GRANTS }, (_, at) => join(many, String(at)))
  for (const file of files) writeFileSync(file, '')
  const byExec = SHAPES.find(({ shape }) => shape === 'by exec')
  const granted = (world: World) => [
    ...(byExec?.options(world) ?? []),
    ...files.flatMap((file) => ['--rw', file]),
  ]
  const good = await outcomeOf('good', identity, [], byExec?.options)
  const seen = await outcomeOf('many', identity, [], granted)
  expect(faultsOf(seen, good, /./)).toEqual([])
  expect(seen).toMatchObject({ status: ENDED_BY_ITSELF, found: good.found, written: false })
})

it.runIf(AS_ROOT)('a grant that is the root of another mount opens that mount, and no other', () => {
  const [at, beside] = [join(bench.outside, 'mount'), join(bench.outside, 'beside')]
  const script = `
    mkdir "$2" "$3" && mount -t tmpfs none "$2" && mount -t tmpfs none "$3" || exit 99
    "$1" --ro / --rw "$2" -- sh -c 'echo x >"$1/new"; echo x >"$2/new"' sh "$2" "$3" 2>/dev/null
    ls "$2"; echo beside:; ls "$3"
  `
  const argv = [
    'unshare',
    '-m',
    '--propagation',
    'private',
    'sh',
    '-c',
    script,
    'sh',
    bench.launcher,
    at,
    beside,
  ]
  expect(run(argv)).toMatchObject({ stdout: 'new\nbeside:\n' })
})
