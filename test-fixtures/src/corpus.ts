/**
 * The corpus: cases as data. In: `corpus/*.json`, one file per area. Out: checked {@link CorpusCase} values. A case that
 * does not fit the schema, or an id used twice, is an error of whoever wrote it and stops everything.
 */

import { readFileSync, readdirSync } from 'node:fs'
import { SANDBOX_EFFECTS, SANDBOX_MODES } from 'dsh-sandbox'
import { z } from 'zod'
import { kernelIsBefore } from './kernel.ts'

/** The backends that the corpus runs under. `bwrap-alone` is bubblewrap on a host where no launcher was built. */
export const CORPUS_BACKENDS = ['bwrap', 'bwrap-alone', 'landlock'] as const
export type CorpusBackend = (typeof CORPUS_BACKENDS)[number]

/** Those with a launcher, as this checkout has them. */
export const LAUNCHED_BACKENDS = ['bwrap', 'landlock'] as const satisfies readonly CorpusBackend[]
export type LaunchedBackend = (typeof LAUNCHED_BACKENDS)[number]

/** @throws {TypeError} no backend with a launcher has this name. */
export function backendNamed(name: string | undefined): LaunchedBackend {
  const backend = LAUNCHED_BACKENDS.find((one) => one === name)
  if (backend === undefined) throw new TypeError(`no such backend: ${name}`)
  return backend
}

/** What a provider is asked for, for each of them. */
export const BACKEND_CHOICE = {
  bwrap: 'bwrap',
  'bwrap-alone': 'bwrap',
  landlock: 'landlock',
} as const satisfies Record<CorpusBackend, string>

/** Who runs a case: uid 0, or anybody else. */
export const CORPUS_USERS = ['root', 'user'] as const
export type CorpusUser = (typeof CORPUS_USERS)[number]

/** What a host or an account may lack. Each word has its test in `needs.ts`. */
export const NEEDS = [
  'python3',
  'perl',
  'git',
  'gcc',
  'unshare',
  'ipcmk',
  'script',
  'flock',
  'ssh-keygen',
  'npm',
  'terminals',
  'shared-memory',
  'x86-64',
  'sys-admin',
  'mknod',
  'chown',
  'dac-read-search',
  'user-namespaces',
  'user-overlays',
  'ptrace-siblings',
  'proc-sys',
  'sysrq-trigger',
  'init-root',
  'i386-calls',
  'inode-flags',
  'legacy-tiocsti',
  'keyrings',
  'io-uring',
  'userfaultfd',
  'perf-events',
  'bpf',
] as const
export type Need = (typeof NEEDS)[number]

/**
 * A place in a case's world, then a relative path. `scratch` holds `ws` and `outside`; `leak` is the folder behind
 * descriptor 17; `victim` is the victim's folder in /proc; `shm` is the case's folder in /dev/shm; `home` is the home of
 * whoever runs the corpus. In scripts and texts the places are `$WS`, `$OUTSIDE`, `$LEAK`, `$CANARY` and `$SHM`.
 */
const place = z.string().regex(/^(ws|outside|scratch|leak|canary|temp|victim|shm|home)(\/.+)?$/)

const paths = z.array(place)
const texts = z.record(place, z.string())

const arrangement = z.strictObject({
  /** Where `ws` and `outside` lie. Absent: below /var/tmp. bwrap masks /tmp, and users work in their homes. */
  under: z.enum(['var-tmp', 'tmp', 'home']).optional(),
  dirs: paths.optional(),
  files: texts.optional(),
  /** Symbolic links: where it lies, and what it points to. */
  links: z.record(place, z.union([place, z.literal('/')])).optional(),
  /** Second names: the new name, and the file it names. */
  hardlinks: z.record(place, place).optional(),
  fifos: paths.optional(),
  /** Octal. */
  modes: z.record(place, z.string().regex(/^[0-7]{3,4}$/)).optional(),
  /** Uids; only root can arrange these. */
  owners: z.record(place, z.int()).optional(),
  /** Seconds since 1970. */
  mtimes: z.record(place, z.int()).optional(),
  /** Shared objects built from C source. */
  sharedObjects: texts.optional(),
  /** A process of the same user outside the sandbox, `$VICTIM_PID`. */
  victim: z.boolean().optional(),
  /** A System V message queue of the same user outside the sandbox, `$QUEUE_ID`. */
  queue: z.boolean().optional(),
  /** A folder of the case's own in the host's /tmp, `$CANARY`. */
  canary: z.boolean().optional(),
  /** A folder of the case's own in the host's /dev/shm, `$SHM`, made before everything else. */
  shm: z.boolean().optional(),
  /** A terminal of the same user outside the sandbox, `$TERMINAL`, with `secret` typed and unread. */
  terminal: z.boolean().optional(),
})

/** What a world looks like. Every member is checked for exact equality; absent members say nothing. */
const scene = z.strictObject({
  absent: paths.optional(),
  present: paths.optional(),
  contents: texts.optional(),
  /** Sizes in bytes. */
  sizes: z.record(place, z.int()).optional(),
  modes: z.record(place, z.string()).optional(),
  owners: z.record(place, z.int()).optional(),
  /** Modification times, in seconds. */
  mtimes: z.record(place, z.int()).optional(),
  kinds: z
    .record(place, z.enum(['file', 'directory', 'symlink', 'fifo', 'socket', 'char', 'block']))
    .optional(),
  victim: z.enum(['alive', 'dead']).optional(),
  /** The victim's resource limits, against those it began with. */
  victimLimits: z.enum(['unchanged', 'changed']).optional(),
  queue: z.enum(['there', 'gone']).optional(),
  /** What the terminal was sent to show, and what is typed there and unread. */
  terminal: z.strictObject({ shown: z.string(), typed: z.string() }).optional(),
})

/** What the command itself leaves: its end and its words. */
const words = z.strictObject({
  exit: z.int().nullable().optional(),
  signal: z.string().nullable().optional(),
  stdout: z.string().optional(),
  stdoutHas: z.array(z.string()).optional(),
  stdoutLacks: z.array(z.string()).optional(),
  /** Length of stdout in UTF-16 units, for texts too long to spell. */
  stdoutLength: z.int().optional(),
  stderr: z.string().optional(),
  /** `$DENIED` stands for the backend's own permission words. */
  stderrHas: z.array(z.string()).optional(),
})

/** The facts that an executor states. */
const verdict = z.strictObject({
  denied: z.boolean().optional(),
  enforcement: z.enum(['full', 'partial']).optional(),
  confidence: z.enum(['high', 'low']).optional(),
  /** The path that the denial names. */
  deniedPath: place.optional(),
  error: z.strictObject({ code: z.string(), rule: z.string().optional() }).optional(),
})

const expectation = z.strictObject({ ...scene.shape, ...words.shape, ...verdict.shape })
const attackScene = z.strictObject({ ...scene.shape, ...words.shape })

/** What the harness does to the world before a step, outside any sandbox. */
const act = z.union([
  z.strictObject({ rename: z.tuple([place, place]) }),
  z.strictObject({ link: z.tuple([place, place]) }),
  z.strictObject({ remove: place }),
])

const step = z.strictObject({
  script: z.string(),
  /** Which executor runs it. Steps that name the same session share one. Absent: `a`. */
  session: z.string().optional(),
  before: z.array(act).optional(),
  /** Checked right after this step; the case's own `expect` is checked after the last. */
  expect: expectation.optional(),
})

/** A key of `expectOn`: a backend, a user, or both, and the kernel release before which it holds. */
const expectationKey = /^(?:(bwrap|bwrap-alone|landlock)(?:\/(root|user))?|root|user)(?: before (\d+\.\d+))?$/

const corpusCase = z
  .strictObject({
    id: z.string().regex(/^[a-z0-9]+(-[a-z0-9]+)*$/),
    area: z.string(),
    mode: z.enum(SANDBOX_MODES),
    why: z.string(),
    /** Where the rule or the fact comes from. */
    source: z.string(),
    /** True: an attack, which must first work without any confinement. */
    hostile: z.boolean(),
    users: z.array(z.enum(CORPUS_USERS)).optional(),
    backends: z.array(z.enum(CORPUS_BACKENDS)).optional(),
    needs: z.array(z.enum(NEEDS)).optional(),
    /** The effect that the attack is an instance of. */
    effect: z.enum(SANDBOX_EFFECTS).optional(),
    /**
     * Where `effect` may honestly be reported `open`; then the attack must be seen to work. A kernel release means
     * "on kernels older than this". Anywhere else `open` is a failure.
     */
    openOn: z
      .partialRecord(z.enum(CORPUS_BACKENDS), z.union([z.literal('always'), z.string().regex(/^\d+\.\d+$/)]))
      .optional(),
    arrange: arrangement.optional(),
    /** A place, or an absolute path of the host. Absent: `ws`. */
    workspaceRoot: z.string().optional(),
    /** A place, or an absolute path of the host. Absent: `ws`. */
    workdir: z.string().optional(),
    /** Variables of the harness itself while the case runs. */
    harnessEnv: z.record(z.string(), z.string()).optional(),
    /** Members of the request, passed on as they are. */
    request: z
      .strictObject({
        stdin: z.string().optional(),
        timeoutMs: z.int().optional(),
        stdoutMaxBytes: z.int().optional(),
      })
      .optional(),
    script: z.string().optional(),
    steps: z.array(step).min(1).optional(),
    expect: expectation,
    /**
     * Where a backend or a user sees something else: `landlock`, `user`, or `landlock/user`. Members replace. What is said
     * of `bwrap` holds for `bwrap-alone` as well, which may then say more. ` before 5.19` after any of them: on kernels
     * older than that, beside what the key says without it.
     */
    expectOn: z.record(z.string().regex(expectationKey), expectation).optional(),
    attackWorked: attackScene.optional(),
  })
  .refine((value) => (value.script === undefined) !== (value.steps === undefined), 'either script or steps')
  .refine(
    (value) => value.hostile === (value.attackWorked !== undefined),
    'attackWorked belongs to hostile cases',
  )
  .refine((value) => value.openOn === undefined || value.effect !== undefined, 'openOn needs an effect')

export type Arrangement = z.infer<typeof arrangement>
export type Scene = z.infer<typeof scene>
export type Words = z.infer<typeof words>
export type Verdict = z.infer<typeof verdict>
export type Expectation = z.infer<typeof expectation>
export type Act = z.infer<typeof act>
export type CorpusStep = z.infer<typeof step>
export type CorpusCase = z.infer<typeof corpusCase>

/** Where the data lies; the same for sources and for what is built from them. */
const CORPUS_FOLDER = new URL('../corpus/', import.meta.url)

function casesOf(file: string): readonly CorpusCase[] {
  const parsed = z.array(corpusCase).safeParse(JSON.parse(readFileSync(new URL(file, CORPUS_FOLDER), 'utf8')))
  if (!parsed.success) throw new TypeError(`corpus/${file}: ${z.prettifyError(parsed.error)}`)
  return parsed.data
}

function repeatedIds(cases: readonly CorpusCase[]): readonly string[] {
  const ids = cases.map((one) => one.id)
  return ids.filter((id, index) => ids.indexOf(id) !== index)
}

/** Every case, in file order. */
export function loadCorpus(): readonly CorpusCase[] {
  const files = readdirSync(CORPUS_FOLDER).filter((name) => name.endsWith('.json'))
  const cases = files.toSorted().flatMap(casesOf)
  const repeated = repeatedIds(cases)
  if (repeated.length > 0) throw new TypeError(`corpus ids used twice: ${repeated.join(', ')}`)
  return cases
}

/** The steps of a case; a lone script is one step. */
export function stepsOf(testCase: CorpusCase): readonly CorpusStep[] {
  return testCase.steps ?? [{ script: testCase.script ?? '' }]
}

/** True when the case says something about this backend and user. */
export function appliesTo(testCase: CorpusCase, backend: CorpusBackend, user: CorpusUser): boolean {
  return (
    (testCase.backends ?? CORPUS_BACKENDS).includes(backend) &&
    (testCase.users ?? CORPUS_USERS).includes(user)
  )
}

/** What to expect of a case under this backend and user, on a kernel of this release; absent: the running one. */
export function expectationOn(
  testCase: CorpusCase,
  backend: CorpusBackend,
  user: CorpusUser,
  release?: string,
): Expectation {
  const backends = [...new Set([BACKEND_CHOICE[backend], backend])]
  const names = [user, ...backends.flatMap((name) => [name, `${name}/${user}`])]
  return Object.assign({}, testCase.expect, ...names.flatMap((name) => saidOf(testCase, name, release)))
}

/** What `expectOn` says under `name`, the more special last. */
function saidOf(
  { expectOn = {} }: CorpusCase,
  name: string,
  release: string | undefined,
): readonly (Expectation | undefined)[] {
  const ofOlder = Object.entries(expectOn).flatMap(([key, more]) => {
    const [subject, version] = key.split(' before ')
    return subject === name && version !== undefined && kernelIsBefore(version, release) ? [more] : []
  })
  return [expectOn[name], ...ofOlder]
}
