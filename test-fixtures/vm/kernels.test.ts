/**
 * Real kernels in a virtual machine, each booted once: what their Landlock stops and what it lets through, in both
 * directions, by the launcher alone; and what `dsh-sandbox doctor` finds there. Runs only where `DSH_VM_KERNELS` names the
 * folder that `fetch-kernels.sh` has filled, since it needs qemu and a download.
 */

import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { deploy } from '../src/deploy.ts'

const run = promisify(execFile)
const here = (path: string) => fileURLToPath(new URL(path, import.meta.url))

/** A name in the folder of kernels, what is added to its command line, and the Landlock that it must have. */
interface Kernel {
  readonly name: string
  readonly image: string
  readonly parameters: readonly string[]
  /** From which ABI to which; or how it says that it has none. */
  readonly landlock: { readonly lowest: number; readonly highest: number } | { readonly missing: string }
}

function exactly(abi: number): Kernel['landlock'] {
  return { lowest: abi, highest: abi }
}

/** Source: landlock(7), "VERSIONS". Releases that Debian has kernels of. */
const KERNELS: readonly Kernel[] = [
  { name: '5.10', image: '5.10', parameters: [], landlock: { missing: 'Function not implemented' } },
  { name: '6.1', image: '6.1', parameters: [], landlock: exactly(2) },
  { name: '6.12', image: '6.12', parameters: [], landlock: exactly(6) },
  {
    name: '6.12, Landlock off at boot',
    image: '6.12',
    parameters: ['lsm=lockdown,yama,apparmor'],
    landlock: { missing: 'Operation not supported' },
  },
  { name: '6.16', image: '6.16', parameters: [], landlock: exactly(7) },
  { name: '7', image: '7', parameters: [], landlock: { lowest: 8, highest: Number.MAX_SAFE_INTEGER } },
]

/** Kernels with this bit take a whiteout for a file, and so let whoever makes files make one. Seen: 6.1.192, 6.12.117, 7.3. */
const WHITEOUTS_ARE_FILES = 1 << 3

interface Landlock {
  readonly abi: number
  readonly errata: number
}

type Outcomes = Readonly<Record<string, string>>
type Closed = (landlock: Landlock) => boolean

const always: Closed = () => true
const never: Closed = () => false
const from =
  (abi: number): Closed =>
  (landlock) =>
    landlock.abi >= abi

interface Act {
  readonly errno: string
  /** Where the launcher grants everything. */
  readonly inside: Closed
  /** Where it grants reading. */
  readonly outside: Closed
}

function onFiles(outside: Closed): Act {
  return { errno: 'EACCES', inside: never, outside }
}

/** What each act of acts.c meets. Source: landlock(7); from 5.19 on, which all of these kernels are. */
const ACTS: Readonly<Record<string, Act>> = {
  read: onFiles(never),
  write: onFiles(always),
  'write-emptying': onFiles(always),
  truncate: onFiles(from(3)),
  create: onFiles(always),
  mkdir: onFiles(always),
  remove: onFiles(always),
  rmdir: onFiles(always),
  rename: onFiles(always),
  'rename-across': onFiles(always),
  'link-across': onFiles(always),
  symlink: onFiles(always),
  fifo: onFiles(always),
  socket: onFiles(always),
  whiteout: {
    errno: 'EACCES',
    inside: ({ errata }) => (errata & WHITEOUTS_ARE_FILES) === 0,
    outside: always,
  },
  mode: onFiles(never),
  'device-ioctl': { errno: 'EACCES', inside: from(5), outside: from(5) },
  'signal-own': onFiles(never),
  'abstract-own': onFiles(never),
  signal: { errno: 'EPERM', inside: from(6), outside: from(6) },
  abstract: { errno: 'EPERM', inside: from(6), outside: from(6) },
}

const UIDS = ['0', '65534'] as const
const PLACES = ['inside', 'outside'] as const
/** With a Landlock that stops something, and without. */
const CONFINED = ['landlock', 'supervised'] as const
const FREE = ['open', 'no-landlock'] as const

/** An ordinary user has no device here but those that every command gets. */
const NO_DEVICE = 'device-ioctl unproved: this user has nothing here to try it on'
const UNPROVED: Readonly<Record<(typeof UIDS)[number], readonly string[]>> = {
  '0': [],
  '65534': [`read-only ${NO_DEVICE}`, `workspace-write ${NO_DEVICE}`],
}

/** What a filter answers, before Landlock is asked. */
const FILTERED: Readonly<Record<(typeof CONFINED)[number], Outcomes>> = {
  landlock: {},
  supervised: { whiteout: 'EPERM' },
}

function expected(
  setting: (typeof CONFINED)[number],
  place: (typeof PLACES)[number],
  landlock: Landlock,
): Outcomes {
  const outcomes = Object.entries(ACTS).map(([name, act]) => [name, act[place](landlock) ? act.errno : 'ok'])
  return { ...Object.fromEntries(outcomes), ...FILTERED[setting], status: '0' }
}

const ALL_WORK: Outcomes = {
  ...Object.fromEntries(Object.keys(ACTS).map((name) => [name, 'ok'])),
  status: '0',
}

/** What the virtual machine printed, by what it was about: `landlock 65534 outside`. */
class Transcript {
  private readonly lines: readonly string[]

  constructor(serial: string) {
    this.lines = serial.split('\n').flatMap((line) => /@ (.*)$/.exec(line)?.slice(1) ?? [])
  }

  about(subject: string): readonly string[] {
    return this.lines
      .filter((line) => line.startsWith(`${subject} `))
      .map((line) => line.slice(subject.length + 1))
  }

  outcomes(subject: string): Outcomes {
    return Object.fromEntries(
      this.about(subject).map((line) => {
        const [name = '', ...words] = line.split(' ')
        return [name, words.join(' ')]
      }),
    )
  }

  landlock(): Landlock | undefined {
    const [, abi, errata] = /^landlock abi=(\d+) errata=(\d+)$/.exec(this.about('probe 0 -')[0] ?? '') ?? []
    return abi === undefined ? undefined : { abi: Number(abi), errata: Number(errata) }
  }
}

/** What `doctor --json` says of one backend, as far as it is looked at. */
interface Report {
  readonly backend: string
  readonly usable: boolean
  /** `read-only`, then `workspace-write`; empty where nothing works. */
  readonly enforcement: readonly string[]
  /** Words that the self-test did not prove, with what came of them. */
  readonly unproved: readonly string[]
  readonly abi?: number
}

/** The same as it is printed. */
interface PrintedReport {
  readonly backend: string
  readonly usable: boolean
  readonly abi?: number
  readonly modes: readonly {
    readonly mode: string
    readonly enforcement: string
    readonly effects: readonly { readonly effect: string; readonly proof: string; readonly why?: string }[]
  }[]
}

function doctor(transcript: Transcript, uid: string): readonly Report[] {
  const [first = '{}'] = transcript.about(`doctor ${uid} -`)
  // The command's own output; what does not fit fails the comparison.
  const { backends = [] } = JSON.parse(first) as { backends?: readonly PrintedReport[] }
  return backends.map(({ backend, usable, abi, modes }) => ({
    backend,
    usable,
    enforcement: modes.map(({ enforcement }) => enforcement),
    unproved: modes.flatMap(({ mode, effects }) =>
      effects
        .filter(({ proof }) => proof !== 'proved')
        .map(({ effect, proof, why }) => `${mode} ${effect} ${proof}: ${why}`),
    ),
    ...(abi === undefined ? {} : { abi }),
  }))
}

/** Longest seen 30 s, beside other work; 9 s alone. */
const BOOT_SECONDS = 120
const HOOK_TIMEOUT_MS = (BOOT_SECONDS + 30) * 1000
/** Kernels at a time. */
const LANES = 2

const folder = process.env['DSH_VM_KERNELS'] ?? ''
const scratch = mkdtempSync('/var/tmp/dsh-vm-')
const initramfs = join(scratch, 'initramfs')

async function makeInitramfs(): Promise<void> {
  const deployment = deploy(here('../../packages/cli'), 'whole')
  try {
    const app = join(deployment.packageFolder, '..', '..')
    await run(here('make-initramfs.sh'), [app, here('../../build/Release/landlock-run'), initramfs])
  } finally {
    deployment.remove()
  }
}

async function boot({ name, image, parameters }: Kernel): Promise<Transcript> {
  const began = performance.now()
  const args = [join(folder, image), initramfs, String(BOOT_SECONDS), ...parameters]
  const { stdout } = await run(here('boot.sh'), args, { maxBuffer: 2 ** 24 })
  const transcript = new Transcript(stdout)
  const seconds = Math.round((performance.now() - began) / 1000)
  const [release = 'no release'] = transcript.about('kernel 0')
  const [probe = 'no answer'] = transcript.about('probe 0 -')
  console.log(`kernel ${name}: ${release}, ${probe}, ${seconds} s`)
  return transcript
}

const boots = new Map<Kernel, Promise<Transcript>>()

/** Starts every kernel, a few at a time. */
function startBoots(): void {
  const lanes: Promise<unknown>[] = Array.from({ length: LANES }, () => makeOnce())
  for (const [index, kernel] of KERNELS.entries()) {
    const lane = index % LANES
    const booted = (lanes[lane] ?? makeOnce()).then(() => boot(kernel))
    lanes[lane] = booted.catch(() => undefined) // its tests await it and fail with the reason
    boots.set(kernel, booted)
  }
}

let making: Promise<void> | undefined
function makeOnce(): Promise<void> {
  making ??= makeInitramfs()
  return making
}

beforeAll(() => {
  if (folder === '') throw new Error('DSH_VM_KERNELS names no folder')
  startBoots()
})

afterAll(async () => {
  await Promise.allSettled(boots.values())
  rmSync(scratch, { recursive: true, force: true })
}, HOOK_TIMEOUT_MS)

describe.each(KERNELS)('kernel $name', (kernel) => {
  const { landlock } = kernel
  let transcript = new Transcript('')
  let found: Landlock = { abi: 0, errata: 0 }

  beforeAll(async () => {
    transcript = (await boots.get(kernel)) ?? transcript
    found = transcript.landlock() ?? found
  }, HOOK_TIMEOUT_MS * KERNELS.length)

  it('has been tried to the end', () => {
    expect(transcript.about('end')).toEqual(['0'])
  })

  it.each(UIDS.flatMap((uid) => FREE.flatMap((setting) => PLACES.map((place) => ({ uid, setting, place })))))(
    'as $uid, $setting, $place: everything works',
    ({ uid, setting, place }) => {
      expect(transcript.outcomes(`${setting} ${uid} ${place}`)).toEqual(ALL_WORK)
    },
  )

  const ATTEMPTS = UIDS.flatMap((uid) =>
    CONFINED.flatMap((setting) => PLACES.map((place) => ({ uid, setting, place }))),
  )

  if ('missing' in landlock) {
    const line = `landlock-run: create-ruleset: ${landlock.missing}`

    it('has no Landlock, and the launcher says so', () => {
      expect(transcript.outcomes('probe 0 -')).toEqual({ stderr: line, status: '125' })
    })

    it.each(ATTEMPTS)('as $uid, $setting, $place: nothing runs', ({ uid, setting, place }) => {
      expect(transcript.outcomes(`${setting} ${uid} ${place}`)).toEqual({ stderr: line, status: '125' })
    })

    it.each(UIDS)('as %s: the doctor finds bubblewrap alone', (uid) => {
      expect(transcript.outcomes(`doctor ${uid} -`)['status']).toBe('0')
      expect(doctor(transcript, uid)).toEqual([
        { backend: 'bwrap', usable: true, enforcement: ['partial', 'partial'], unproved: UNPROVED[uid] },
        { backend: 'landlock', usable: false, enforcement: [], unproved: [] },
      ])
    })
  } else {
    it('has the Landlock of its release', () => {
      expect(found.abi).toBeGreaterThanOrEqual(landlock.lowest)
      expect(found.abi).toBeLessThanOrEqual(landlock.highest)
    })

    it.each(ATTEMPTS)('as $uid, $setting, $place: what its ABI promises', ({ uid, setting, place }) => {
      expect(transcript.outcomes(`${setting} ${uid} ${place}`)).toEqual(expected(setting, place, found))
    })

    it.each(UIDS)('as %s: the doctor finds both backends', (uid) => {
      expect(transcript.outcomes(`doctor ${uid} -`)['status']).toBe('0')
      expect(doctor(transcript, uid)).toEqual([
        { backend: 'bwrap', usable: true, enforcement: ['full', 'full'], unproved: UNPROVED[uid] },
        {
          backend: 'landlock',
          usable: true,
          enforcement: [found.abi >= 3 ? 'full' : 'partial', 'partial'],
          unproved: UNPROVED[uid],
          abi: found.abi,
        },
      ])
    })
  }
})
