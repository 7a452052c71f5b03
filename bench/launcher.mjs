/**
 * What the launcher costs: `node bench/launcher.mjs [ROUNDS]`. Time of `true` with and without it in one run, its memory
 * while a command runs, its size, and that none of it grows with the files of the workspace. Linux with Landlock.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { cpus, release } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { digits, median, quantile, timesOf } from './measure.mjs'

const LAUNCHER = fileURLToPath(new URL('../build/Release/landlock-run', import.meta.url))
const TRUE = '/bin/true'
const FILES = 20_000

/** As the provider words them. */
function grants(workspace) {
  const { dev, ino } = statSync(workspace, { bigint: true })
  const devices = ['null', 'zero', 'full', 'random', 'urandom', 'tty'].flatMap((name) => [
    '--dev',
    `/dev/${name}`,
  ])
  return ['--ro', '/', '--rw-pinned', `${dev}:${ino}`, workspace, ...devices]
}

function workspaceWith(scratch, count) {
  const folder = join(scratch, `files-${count}`)
  mkdirSync(folder)
  for (let i = 0; i < count; i++) writeFileSync(join(folder, `f${i}`), '')
  return folder
}

/** Peak resident memory in KiB of a process and of those below it but the last, which is the command. */
async function supervisorMemory(argv) {
  const [program, ...args] = argv
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] })
  try {
    await once(child.stdout, 'data')
    const peaks = []
    for (let pid = child.pid; childOf(pid) !== undefined; pid = childOf(pid)) peaks.push(peakOf(pid))
    return peaks
  } finally {
    child.kill('SIGTERM')
    await once(child, 'exit')
  }
}

function childOf(pid) {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number).find(Boolean)
}

function peakOf(pid) {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const field = (name) => Number(new RegExp(`^${name}:\\s*(\\d+) kB$`, 'm').exec(status)?.[1])
  return { peak: field('VmHWM'), own: field('RssAnon') }
}

async function main(rounds) {
  const scratch = mkdtempSync('/var/tmp/dsh-bench-')
  try {
    const [few, many] = [workspaceWith(scratch, 10), workspaceWith(scratch, FILES)]
    const supervised = ['--supervise', '--guard']
    // What a workspace-write command is denied.
    const denied = ['limits-of-others', 'kernel-surface', 'device-nodes'].flatMap((group) => [
      '--deny',
      group,
    ])
    const ways = {
      true: [TRUE],
      'launcher, Landlock': [LAUNCHER, ...grants(few), '--', TRUE],
      'launcher, Landlock, --supervise': [LAUNCHER, '--supervise', ...grants(few), '--', TRUE],
      'launcher, Landlock, --supervise --guard': [LAUNCHER, ...supervised, ...grants(few), '--', TRUE],
      'the same with --deny, as a command gets it': [
        LAUNCHER,
        ...supervised,
        ...denied,
        ...grants(few),
        '--',
        TRUE,
      ],
      [`the same, ${FILES} files`]: [LAUNCHER, ...supervised, ...denied, ...grants(many), '--', TRUE],
    }
    const times = timesOf(ways, rounds)
    const base = median(times.true)
    console.log(
      `${cpus().length} cores, Linux ${release()}, Node ${process.version}, ${rounds} interleaved rounds`,
    )
    console.table(
      Object.entries(times).map(([way, all]) => ({
        way,
        'median ms': digits(median(all)),
        'p10 to p90': `${digits(quantile(all, 0.1))} to ${digits(quantile(all, 0.9))}`,
        'over true': digits(median(all) - base),
        ratio: digits(median(all) / base),
      })),
    )
    const sleeper = ['/bin/sh', '-c', 'echo up; exec sleep 60']
    const memory = await supervisorMemory([
      LAUNCHER,
      ...supervised,
      ...denied,
      ...grants(few),
      '--',
      ...sleeper,
    ])
    console.table(
      memory.map(({ peak, own }, index) => ({
        process: ['launcher', 'guard'][index],
        'peak KiB': peak,
        'of its own KiB': own,
      })),
    )
    console.log(`landlock-run: ${Math.round(statSync(LAUNCHER).size / 1024)} KiB`)
  } finally {
    rmSync(scratch, { recursive: true, force: true })
  }
}

await main(Number(process.argv[2] ?? 400))
