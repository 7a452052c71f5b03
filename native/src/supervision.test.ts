/**
 * `--supervise` and `--guard`: the command's end is passed on as it was, and nothing it started is left. Every daemon is
 * first seen to outlive its command without them.
 */

import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import type { Readable } from 'node:stream'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  AS_ROOT,
  IDENTITIES,
  landlockAbi,
  NOBODY,
  run,
  runReporting,
  syscallNumbers,
  useBench,
  type Identity,
} from '../test/bench.ts'
import { skipWithout } from '../test/needs.ts'
import { childrenOf, marked, remains, stateOf, tree, until, type Seen } from '../test/processes.ts'

const bench = useBench()

const ALONE = ['--supervise']
const GUARDED = ['--supervise', '--guard']
const MODES = [
  { how: 'supervised', mode: ALONE },
  { how: 'supervised with a guard', mode: GUARDED },
]
const CASES = IDENTITIES.flatMap((identity) =>
  MODES.map((mode) => ({ who: identity.name, identity, ...mode })),
)

const launch = (mode: readonly string[], ...argv: readonly string[]) => [
  bench.launcher,
  ...mode,
  '--status-fd',
  '3',
  ...['--ro', '/', '--rw', bench.workspace, '--dev', '/dev/null'],
  '--',
  ...argv,
]

interface Started {
  readonly child: ChildProcess
  readonly pid: number
  /** Status and signal. */
  readonly ended: Promise<readonly [number | null, string | null]>
  readonly report: Promise<string>
}

/** Whatever a failed test leaves is ended by these, which only its own processes carry. */
let markers: string[] = []
let serial = 0

/** An argument of sleep(1) that no other process has. */
function newMarker(): string {
  const marker = `3600.${process.pid}${serial++}`
  markers.push(marker)
  return marker
}

afterEach(() => {
  for (const { pid } of markers.flatMap(marked)) process.kill(pid, 'SIGKILL')
  markers = []
})

/** Starts in a session of its own. Descriptor 3 is a pipe, and so is stdin: a command ends when it is closed. */
function start(argv: readonly string[], identity: Identity, output: 'ignore' | 'pipe' = 'ignore'): Started {
  const [program = '', ...args] = [...identity.prefix, ...argv]
  const child = spawn(program, args, { cwd: '/', detached: true, stdio: ['pipe', output, output, 'pipe'] })
  if (child.pid === undefined) throw new Error(`${program} did not start`)
  // Descriptor 3 was opened as a pipe from the child to here.
  const report = text(child.stdio[3] as Readable)
  const ended = once(child, 'exit').then(([status, signal]) => [status, signal] as const)
  return { child, pid: child.pid, ended, report }
}

/** `argv` with how its process ended on stdout: the whole byte of waitpid(2), core flag included. */
const tellingSignal = (argv: readonly string[]) => [
  'perl',
  '-e',
  'print 255 & system { $ARGV[0] } @ARGV',
  ...argv,
]

/** Ends itself by signal `$1`. perl starts with SIGFPE ignored. */
const endBy = (signal: number) => ['perl', '-e', "$SIG{FPE} = 'DEFAULT'; kill $ARGV[0], $$", String(signal)]

/** CHLD, CONT, STOP, TSTP, TTIN, TTOU, URG and WINCH do not end a process. */
const HARMLESS = [17, 18, 19, 20, 21, 22, 23, 28]
const DEADLY = Array.from({ length: 64 }, (_, index) => index + 1).filter(
  (number) => !HARMLESS.includes(number),
)

describe.each(CASES)('the end of a command, $how, as $who', ({ identity, mode }) => {
  it.each([0, 1, 7, 125, 126, 127, 128, 137, 255])('by status %i is passed on', (status) => {
    expect(runReporting(launch(mode, 'sh', '-c', `exit ${status}`), { identity })).toEqual({
      status,
      signal: null,
      stdout: '',
      stderr: '',
      report: `ready\nexited ${status}\n`,
    })
  })

  it('by any signal is passed on', () => {
    const plain = DEADLY.map((signal) => run(tellingSignal(endBy(signal)), { identity }).stdout)
    expect(plain.map((byte) => Number(byte) & 127)).toEqual(DEADLY)
    const supervised = DEADLY.map((signal) => {
      const { stdout, report } = runReporting(tellingSignal(launch(mode, ...endBy(signal))), { identity })
      return { stdout, report }
    })
    // A real-time signal has no name, and an end by it would be none to who goes by names: it becomes a status.
    const told = (signal: number) => (signal < 32 ? String(signal) : '0')
    expect(supervised).toEqual(
      DEADLY.map((signal) => ({ stdout: told(signal), report: `ready\nsignaled ${signal}\n` })),
    )
  })

  it('by a real-time signal becomes the status that shells give it', () => {
    const { status, report } = runReporting(launch(mode, ...endBy(40)), { identity })
    expect([status, report]).toEqual([168, 'ready\nsignaled 40\n'])
  })

  it.each([
    { what: 'a child that was waited for', script: 'sleep 0 & wait' },
    { what: 'one that has ended by itself', script: 'sleep 0 & sleep 0.05' },
    { what: 'one that was killed and waited for', script: 'sleep 60 & kill -KILL $!; wait $!' },
    { what: 'one that was killed as the last act', script: 'sleep 60 & kill -KILL $!; exec sleep 0.05' },
    {
      what: 'an orphan that was killed',
      script: 'pid=$(sleep 60 >&- & echo $!); kill -KILL $pid; sleep 0.05',
    },
  ])('is told alone when nothing is left: $what', ({ script }) => {
    const argv = launch(mode, 'bash', '-c', `${script}\nexit 0`)
    expect(runReporting(argv, { identity })).toMatchObject({ status: 0, report: 'ready\nexited 0\n' })
  })

  it.each([
    { program: ['no such'], status: 127, report: 'ready\nfailed exec 2 no%20such\n' },
    { program: ['/etc/passwd'], status: 126, report: 'ready\nfailed exec 13 /etc/passwd\n' },
  ])('that never ran is no end: $report', ({ program, status, report }) => {
    expect(runReporting(launch(mode, ...program), { identity })).toMatchObject({ status, report })
  })

  it('that never ran for want of a grant is no end either', () => {
    const argv = launch([...mode, '--ro', '/no/such'], 'touch', join(bench.workspace, 'ran'))
    expect(runReporting(argv, { identity })).toEqual({
      status: 125,
      signal: null,
      stdout: '',
      stderr: 'landlock-run: open-grant /no/such: No such file or directory\n',
      report: 'failed open-grant 2 /no/such\n',
    })
    expect(readdirSync(bench.workspace)).toEqual([])
  })

  it('is not that of its streams', async () => {
    const argv = launch(mode, 'bash', '-c', 'exec >&- 2>&-; read -r; exit 6')
    const { child, pid, ended, report } = start(argv, identity, 'pipe')
    await Promise.all([text(child.stdout ?? bad()), text(child.stderr ?? bad())])
    const all = tree(pid)
    expect(all.length).toBe(mode.length + 1)
    expect(all.map((one) => remains(one))).toEqual(all.map(() => true))
    child.stdin?.end()
    expect(await ended).toEqual([6, null])
    expect(await report).toBe('ready\nexited 6\n')
  })

  it('leaves a reader of its streams nobody else to wait for', () => {
    const first = ['bash', '-c', '"$@" | head -c 1; echo "${PIPESTATUS[0]}"', 'bash']
    const { stdout } = runReporting([...first, ...launch(mode, 'yes')], { identity })
    // 141 is the shell's word for SIGPIPE.
    expect(stdout).toBe('y141\n')
  })
})

function bad(): never {
  throw new Error('the stream was asked for')
}

/** Two processes of one group; each writes down what it gets. The first ends with status 5 when stdin does. */
const LOGGING_GROUP = `
  my ($log) = @ARGV;
  my $name = 'leader';
  sub note { open my $file, '>>', $log or die; syswrite $file, "$name $_[0]\\n"; }
  $SIG{$_} = \\&note for qw(TERM INT HUP QUIT USR1 USR2);
  my $child = fork;
  $name = 'member' unless $child;
  note('up');
  sleep 1 until $child;
  1 until defined(my $read = sysread STDIN, my $byte, 1);
  exit 5;
`

/** One of them twice: a second TERM is no other than the first. */
const FORWARDED = ['TERM', 'INT', 'HUP', 'QUIT', 'USR1', 'USR2', 'TERM'] as const

describe.each(CASES)('signals, $how, as $who', ({ identity, mode }) => {
  it.each([
    { target: 'the launcher', sign: 1 },
    { target: 'the launcher’s group', sign: -1 },
  ])('for $target reach the whole group, once', async ({ sign }) => {
    bench.giveTo(identity)
    const log = join(bench.workspace, 'log')
    const lines = () => (existsSync(log) ? readFileSync(log, 'utf8').trimEnd().split('\n') : [])
    const argv = launch(mode, 'perl', '-e', LOGGING_GROUP, log)
    const { child, pid, ended, report } = start(argv, identity)
    const expected = ['leader up', 'member up']
    await until('both processes', () => lines().length === 2)
    for (const name of FORWARDED) {
      expected.push(`leader ${name}`, `member ${name}`)
      process.kill(sign * pid, `SIG${name}`)
      await until(`${name} in both`, () => lines().length >= expected.length)
    }
    child.stdin?.end()
    expect(await ended).toEqual([5, null])
    expect(await report).toBe('ready\nleft 1\nexited 5\n')
    expect(lines().toSorted()).toEqual(expected.toSorted())
  })

  it('let a trap finish', async () => {
    bench.giveTo(identity)
    const script = `trap 'trap - TERM; sleep 0.05; echo bye > "$1/bye"; exit 9' TERM; : > "$1/up"; while :; do sleep 0.01; done`
    const { pid, ended, report } = start(
      launch(mode, 'bash', '-c', script, 'bash', bench.workspace),
      identity,
    )
    await until('the trap is set', () => existsSync(join(bench.workspace, 'up')))
    process.kill(pid, 'SIGTERM')
    expect(await ended).toEqual([9, null])
    expect(readFileSync(join(bench.workspace, 'bye'), 'utf8')).toBe('bye\n')
    expect(await report).toBe('ready\nexited 9\n')
  })

  it('end a command that has no trap, and the launcher by the same one', async () => {
    const { pid, ended, report } = start(launch(mode, 'sleep', newMarker()), identity)
    await until(
      'the command',
      () => tree(pid).length === mode.length + 1 && markers.flatMap(marked).length > 1,
    )
    await until('the command itself', () => tree(pid).some((one) => stateOf(one.pid) === 'S' && isSleep(one)))
    process.kill(pid, 'SIGTERM')
    expect(await ended).toEqual([null, 'SIGTERM'])
    expect(await report).toBe('ready\nsignaled 15\n')
  })
})

const isSleep = ({ pid }: Seen) => existsSync(`/proc/${pid}`) && comm(pid) === 'sleep'
const comm = (pid: number) => readFileSync(`/proc/${pid}/comm`, 'utf8').trimEnd()

const doubleFork = `
  use POSIX;
  exit 0 if fork; POSIX::setsid(); exit 0 if fork;
  $SIG{$_} = 'IGNORE' for qw(TERM INT HUP);
  exec 'sleep', $ARGV[0];
`
const nestedReaper = `
  syscall(${syscallNumbers().prctl}, 36, 1, 0, 0, 0) == 0 or die;
  system 'perl', '-e', $ARGV[1], $ARGV[0];
  exec 'sleep', $ARGV[0];
`

/** `$1` is an argument that sleep takes and by which the test finds it; \`$2\` and \`$3\` are the perl programs above. */
const DAEMONS = [
  { name: 'a background job', script: 'sleep "$1" &', count: 1 },
  { name: 'one that ignores signals', script: 'trap \'\' TERM INT HUP; sleep "$1" &', count: 1 },
  { name: 'a session of its own', script: 'setsid sleep "$1" &', count: 1 },
  { name: 'a double fork', script: 'perl -e "$2" "$1"', count: 1 },
  { name: 'a reaper with a double fork below', script: 'setsid perl -e "$3" "$1" "$2" &', count: 2 },
  { name: 'a stopped session', script: 'setsid sh -c \'kill -STOP $$; sleep "$1"\' "$1" "$1" &', count: 1 },
]
/** Root can become someone whom it may signal only by CAP_KILL, which the command does not have. */
const OTHERS_DAEMON = {
  name: 'another user',
  script: 'setpriv --reuid=12345 --clear-groups setsid sleep "$1" &',
  count: 1,
}

interface Running extends Started {
  readonly marker: string
  readonly daemons: readonly Seen[]
}

/** How a command goes on: until its stdin ends, which is also when its parent here has ended; or until it is ended. */
const UNTIL_STDIN_ENDS = 'read -r; exit 3'
const UNTIL_IT_IS_ENDED = 'mkfifo "$4"; read -r < "$4"'

/** Starts a command that starts a daemon and goes on; resolves once the daemon is what it is going to be. */
async function startWithDaemon(
  wrap: (...argv: readonly string[]) => readonly string[],
  { script, count }: (typeof DAEMONS)[number],
  identity: Identity,
  rest = UNTIL_STDIN_ENDS,
): Promise<Running> {
  bench.giveTo(identity)
  const marker = newMarker()
  const values = [marker, doubleFork, nestedReaper, join(bench.workspace, 'fifo')]
  const argv = wrap('bash', '-c', `${script}\n${rest}`, 'bash', ...values)
  const started = start(argv, identity)
  const daemons = () => marked(marker).filter(isDaemon)
  await until('the daemon', () => daemons().length === count)
  return { ...started, marker, daemons: daemons() }
}

const isDaemon = (one: Seen) => isSleep(one) || stateOf(one.pid) === 'T'

/** What can befall a guarded command. The launcher’s child is the guard, and the guard’s the command. */
const BLOWS: readonly { blow: string; strike: (launcher: number) => Promise<void> | void }[] = [
  { blow: 'the launcher’s group gets KILL', strike: (launcher) => void process.kill(-launcher, 'SIGKILL') },
  { blow: 'the launcher gets KILL', strike: (launcher) => void process.kill(launcher, 'SIGKILL') },
  { blow: 'the guard gets KILL', strike: (launcher) => void process.kill(onlyChild(launcher), 'SIGKILL') },
  {
    blow: 'the guard is stopped and the launcher gets KILL',
    async strike(launcher) {
      await stop(onlyChild(launcher))
      process.kill(launcher, 'SIGKILL')
    },
  },
  {
    blow: 'the command is stopped and the launcher gets KILL',
    async strike(launcher) {
      await stop(onlyChild(onlyChild(launcher), 'bash'))
      process.kill(launcher, 'SIGKILL')
    },
  },
]

async function stop(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await until('it is stopped', () => stateOf(pid) === 'T')
}

/** The first child of that name, or the first one. */
function onlyChild(pid: number, name?: string): number {
  const child = childrenOf(pid).find((one) => name === undefined || comm(one) === name)
  if (child === undefined) throw new Error(`process ${pid} has no child ${name ?? ''}`)
  return child
}

const remaining = (all: readonly Seen[]) => all.filter(remains)

describe.each(IDENTITIES)('what a command leaves, as $name', (identity) => {
  const daemons = identity.uid === 0 && AS_ROOT ? [...DAEMONS, OTHERS_DAEMON] : DAEMONS

  describe.each(daemons)('$name', (daemon) => {
    it('outlives its command without --supervise', async () => {
      const running = await startWithDaemon((...argv) => launch([], ...argv), daemon, identity)
      running.child.stdin?.end()
      expect(await running.ended).toEqual([3, null])
      expect(remaining(running.daemons)).toEqual(running.daemons)
    })

    it.each(MODES)('is gone when the command has ended, $how', async ({ mode }) => {
      const running = await startWithDaemon((...argv) => launch(mode, ...argv), daemon, identity)
      const all = [...tree(running.pid), ...running.daemons]
      running.child.stdin?.end()
      expect(await running.ended).toEqual([3, null])
      expect(remaining(all)).toEqual([])
      expect(await running.report).toBe(`ready\nleft ${daemon.count}\nexited 3\n`)
    })

    it.each(BLOWS)('is gone after $blow', async ({ strike }) => {
      const wrap = (...argv: readonly string[]) => launch(GUARDED, ...argv)
      const running = await startWithDaemon(wrap, daemon, identity, UNTIL_IT_IS_ENDED)
      const all = [...tree(running.pid), ...running.daemons]
      await strike(running.pid)
      expect(await running.ended).toEqual([null, 'SIGKILL'])
      await until('all are gone', () => remaining(all).length === 0)
      expect(await running.report).toBe('ready\n')
    })

    it('is gone after the launcher’s parent gets KILL', async () => {
      const parent = ['bash', '-c', '"$@" & wait', 'bash']
      const wrap = (...argv: readonly string[]) => [...parent, ...launch(GUARDED, ...argv)]
      const running = await startWithDaemon(wrap, daemon, identity, UNTIL_IT_IS_ENDED)
      const all = [...tree(running.pid), ...running.daemons]
      // The parent, the launcher, the guard, the command: else the blow would not be the one that is meant.
      expect(comm(onlyChild(onlyChild(onlyChild(running.pid)), 'bash'))).toBe('bash')
      process.kill(running.pid, 'SIGKILL')
      expect(await running.ended).toEqual([null, 'SIGKILL'])
      await until('all are gone', () => remaining(all).length === 0)
      expect(await running.report).toBe('ready\n')
    })
  })
})

/**
 * Each process forks its successor into a new session and ends. `$1` finds them, a file at `$2` ends them all, `$3` is
 * how many seconds one lives: unsupervised, what they leave is collected by init at leisure, and counts until then.
 * There are `$4` at a time, from when the command ends; one that nobody has ended in ten seconds makes the file `$5`.
 */
const COMETS = `
  use POSIX;
  my ($marker, $stop, $life, $count, $burnt) = @ARGV;
  pipe my $started, my $holding or die;
  for (1 .. $count) {
    my $comet = fork;
    next if $comet or not defined $comet;
    close $holding;
    sysread $started, my $none, 1;
    my $deadline = time + 10;
    until (-e $stop or time > $deadline) {
      select undef, undef, undef, $life if $life;
      my $next = fork;
      POSIX::_exit(0) if $next;
      POSIX::setsid() if defined $next;
    }
    open my $file, '>', $burnt unless -e $stop;
    POSIX::_exit(0);
  }
  exit 3;
`

const burnt = () => join(bench.workspace, 'burnt')
const swarm = (marker: string, life: number, count = 8) => {
  const numbers = [life, count].map(String)
  return ['perl', '-e', COMETS, marker, join(bench.workspace, 'stop'), ...numbers, burnt()]
}

describe.each(CASES)('a swarm of forks, $how, as $who', ({ identity, mode }) => {
  const limited = ['prlimit', '--nproc=2000']

  it('goes on without --supervise', async () => {
    const marker = newMarker()
    const { ended } = start([...limited, ...launch([], ...swarm(marker, 0.02))], identity)
    expect(await ended).toEqual([3, null])
    await until('the swarm goes on', () => marked(marker).length > 0)
    writeFileSync(join(bench.workspace, 'stop'), '')
    await until('the swarm has ended', () => marked(marker).length === 0)
  })

  it('is gone when the command has ended', async () => {
    const marker = newMarker()
    const { ended, report } = start([...limited, ...launch(mode, ...swarm(marker, 0))], identity)
    expect(await ended).toEqual([3, null])
    expect(marked(marker)).toEqual([])
    expect(await report).toMatch(/^ready\n(left [1-9]\d*\n)?exited 3\n$/)
  })

  it('is no reason to schedule the command itself any other way', () => {
    // Scheduling priority, policy. Source: proc_pid_stat(5).
    const scheduled = ['cut', '-d', ' ', '-f', '18,40,41', '/proc/self/stat']
    const plain = run(scheduled, { identity })
    expect(plain).toMatchObject({ status: 0, stdout: '20 0 0\n' })
    expect(runReporting(launch(mode, ...scheduled), { identity })).toMatchObject(plain)
  })
})

/** By a real-time policy. Root in a container often may not. */
const MAY_GO_FIRST = run(['chrt', '--fifo', '1', 'true']).status === 0

describe.runIf(MAY_GO_FIRST)('a swarm of 200 without a limit', () => {
  it.each(MODES)('is gone before it burns out, $how', async ({ mode }) => {
    const marker = newMarker()
    const { ended, report } = start(launch(mode, ...swarm(marker, 0, 200)), {
      name: 'whoever tests',
      uid: process.getuid?.() ?? 0,
      prefix: [],
    })
    expect(await ended).toEqual([3, null])
    expect([existsSync(burnt()), marked(marker)]).toEqual([false, []])
    expect(await report).toMatch(/^ready\n(left [1-9]\d*\n)?exited 3\n$/)
  })
})

/** A real PID namespace, and the capabilities that root's commands keep: CAP_KILL is none of them. */
const namespace = (proc: readonly string[]) => [
  'bwrap',
  ...['--die-with-parent', '--unshare-pid', '--bind', '/', '/', '--dev', '/dev', ...proc],
  ...['--cap-drop', 'ALL', ...(AS_ROOT ? ['--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID'] : []), '--'],
]
const OWN_PROC = ['--proc', '/proc']
const FOREIGN_PROC = ['--ro-bind', '/proc', '/proc']

describe.each(IDENTITIES)('inside bwrap --unshare-pid, as $name', (identity) => {
  beforeEach(({ skip }) => skipWithout(skip, 'bwrap'))

  const daemons = identity.uid === 0 && AS_ROOT ? [...DAEMONS, OTHERS_DAEMON] : DAEMONS
  // Only uid 0 has capabilities to be kept.
  const inside = (proc: readonly string[]) =>
    namespace(proc).filter(
      (_, at, all) => identity.uid === 0 || ![all[at], all[at - 1]].includes('--cap-add'),
    )

  it.each(daemons)('$name is gone when the command has ended', async (daemon) => {
    const wrap = (...argv: readonly string[]) => [...inside(OWN_PROC), ...launch(ALONE, ...argv)]
    const running = await startWithDaemon(wrap, daemon, identity)
    const all = [...tree(running.pid), ...running.daemons]
    running.child.stdin?.end()
    expect(await running.ended).toEqual([3, null])
    await until('all are gone', () => remaining(all).length === 0)
    // Without CAP_KILL another user's is left to the namespace.
    const left = daemon === OTHERS_DAEMON ? '' : `left ${daemon.count}\n`
    expect(await running.report).toBe(`ready\n${left}exited 3\n`)
  })

  it('a signal is reported, which bwrap turns into a status', () => {
    const argv = [...inside(OWN_PROC), ...launch(ALONE, ...endBy(11))]
    expect(runReporting(argv, { identity })).toMatchObject({ status: 139, report: 'ready\nsignaled 11\n' })
  })

  it('another namespace’s /proc ends the command all the same, and is refused by --guard', async () => {
    const setsid = DAEMONS[2] ?? bad()
    const wrap = (...argv: readonly string[]) => [...inside(FOREIGN_PROC), ...launch(ALONE, ...argv)]
    const running = await startWithDaemon(wrap, setsid, identity)
    const all = [...tree(running.pid), ...running.daemons]
    running.child.stdin?.end()
    expect(await running.ended).toEqual([3, null])
    await until('all are gone', () => remaining(all).length === 0)
    const touch = launch(GUARDED, 'touch', join(bench.workspace, 'ran'))
    expect(runReporting([...inside(FOREIGN_PROC), ...touch], { identity })).toMatchObject({
      status: 125,
      report: 'failed list-children 3 /proc/self\n',
    })
    expect(readdirSync(bench.workspace)).toEqual([])
  })
})

/** From ABI 6 a confined process cannot signal one outside. */
const SCOPED = landlockAbi() >= 6

describe.each(IDENTITIES)('a command against its supervisors, as $name', (identity) => {
  it('can KILL its parent without confinement', () => {
    const { signal } = run(['bash', '-c', 'bash -c \'kill -KILL "$PPID"\'; exit 4'], { identity })
    expect(signal).toBe('SIGKILL')
  })

  it('cannot KILL the launcher or the guard where the kernel scopes signals', () => {
    const script =
      'read -r _ _ _ launcher _ < /proc/$PPID/stat; kill -KILL $PPID; kill -KILL "$launcher"; exit 4'
    const { status, signal, stderr, report } = runReporting(launch(GUARDED, 'bash', '-c', script), {
      identity,
    })
    expect({ status, signal, report }).toEqual(
      SCOPED
        ? { status: 4, signal: null, report: 'ready\nexited 4\n' }
        : { status: null, signal: 'SIGKILL', report: 'ready\n' },
    )
    expect(stderr.match(/Operation not permitted/g)?.length ?? 0).toBe(SCOPED ? 2 : 0)
  })

  // A pipe of that user's own: another user's could not be opened by name anyway.
  const piped = ['bash', '-c', '"$@" 3>&1 >/dev/null 2>&1 | cat', 'bash']
  const FORGE = 'echo "exited 0" > /proc/$PPID/fd/3; exit 7'

  it('can write to its parent’s descriptor without confinement', () => {
    const parent = ['bash', '-c', 'bash -c "$1" 3>&-; true', 'bash', FORGE]
    expect(run([...piped, ...parent], { identity }).stdout).toBe('exited 0\n')
  })

  it.each(MODES)('cannot forge a report, with or without Landlock, $how', ({ mode }) => {
    for (const rules of [['--ro', '/'], ['--no-landlock']]) {
      const argv = [bench.launcher, ...mode, '--status-fd', '3', ...rules, '--', 'bash', '-c', FORGE]
      expect(run([...piped, ...argv], { identity }).stdout).toBe('ready\nexited 7\n')
    }
  })
})

describe.each(CASES)('an older kernel, $how, as $who', ({ identity, mode }) => {
  it('can be simulated in front of the launcher', () => {
    const old = [bench.faultRun, '--landlock-abi', '1', '--']
    // Before ABI 2 no file can be linked into another directory.
    const script = 'cd "$1"; mkdir dir; : > file; ln file dir/file'
    bench.giveTo(identity)
    const argv = launch(mode, 'sh', '-c', script, 'sh', bench.workspace)
    expect(runReporting([...old, ...argv], { identity })).toMatchObject({
      status: 1,
      stderr: `ln: failed to create hard link 'dir/file' => 'file': Invalid cross-device link\n`,
    })
    expect(readdirSync(join(bench.workspace, 'dir'))).toEqual([])
  })
})

describe('a step that fails stops the launch', () => {
  const touch = () => ['touch', join(bench.workspace, 'ran')]

  it.each(MODES)('subreaper, $how', ({ mode }) => {
    const faults = [bench.faultRun, '--no-syscall', `${syscallNumbers().prctl}=1`, '--']
    expect(runReporting([...faults, ...launch(mode, ...touch())])).toMatchObject({
      status: 125,
      stderr: 'landlock-run: subreaper: Operation not permitted\n',
      report: 'failed subreaper 1 -\n',
    })
    expect(readdirSync(bench.workspace)).toEqual([])
  })

  it('list-children, on a kernel without that list', () => {
    const listing = '/proc/thread-self/children'
    const faults = [bench.faultRun, '--open-suffix', `${listing}=2`, '--']
    expect(runReporting([...faults, ...launch(GUARDED, ...touch())])).toMatchObject({
      status: 125,
      stderr: `landlock-run: list-children ${listing}: No such file or directory\n`,
      report: `failed list-children 2 ${listing}\n`,
    })
    expect(readdirSync(bench.workspace)).toEqual([])
  })

  it.runIf(AS_ROOT).each(MODES)('fork, for a user with too many processes, $how', ({ mode }) => {
    bench.giveTo(NOBODY)
    const limited = ['prlimit', '--nproc=1', ...launch(mode, ...touch())]
    expect(runReporting(limited, { identity: NOBODY })).toMatchObject({
      status: 125,
      stderr: 'landlock-run: fork: Resource temporarily unavailable\n',
      report: 'failed fork 11 -\n',
    })
    expect(readdirSync(bench.workspace)).toEqual([])
  })
})
