/** What Landlock lets PROGRAM do. Every attack is first carried out without the launcher. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import {
  AS_ROOT,
  IDENTITIES,
  landlockAbi,
  putFile,
  run,
  runReporting,
  useBench,
  type Identity,
} from '../test/bench.ts'
import { parseProbe } from './index.ts'

const bench = useBench()

/** ABI of the running kernel, as high as the launcher uses it. */
const ABI = Math.min(7, landlockAbi())

const confined = (...grants: string[]) => [bench.launcher, '--ro', '/', ...grants, '--']
const inWorkspace = () => confined('--rw', bench.workspace, '--dev', '/dev/null')
const script = (text: string) => ['sh', '-c', text, 'sh', bench.workspace, bench.outside]

const bindSocket = (path: string) =>
  `perl -MSocket -e 'socket(S, AF_UNIX, SOCK_STREAM, 0); bind(S, pack_sockaddr_un($ARGV[0])) or exit 1' ${path}`

/** `$1` is the workspace, `$2` the folder outside. */
const ALLOWED_INSIDE = `
  set -e
  cd "$1"
  echo one > file; echo two >> file; : > empty
  mkdir dir dir/deep; mv file dir/file; ln dir/file dir/deep/hard; ln -s file dir/soft; mkfifo fifo
  truncate -s 3 dir/file; rm empty; mv dir/deep/hard kept; rmdir dir/deep; echo null > /dev/null
  cp /bin/true own-true; ./own-true
  ${bindSocket('socket')}
`

/** `leaves` tells from the world whether the attack has worked. */
const ATTACKS = [
  { name: 'create', text: 'echo x > "$2/new"', leaves: () => existsSync(join(bench.outside, 'new')) },
  { name: 'overwrite', text: 'echo x > "$2/victim"', leaves: () => victim() !== 'old\n' },
  { name: 'append', text: 'echo x >> "$2/victim"', leaves: () => victim() !== 'old\n' },
  { name: 'open and truncate', text: ': > "$2/victim"', leaves: () => victim() === '' },
  { name: 'remove', text: 'rm -f "$2/victim"', leaves: () => victim() === undefined },
  { name: 'mkdir', text: 'mkdir "$2/new"', leaves: () => existsSync(join(bench.outside, 'new')) },
  { name: 'rmdir', text: 'rmdir "$2/dir"', leaves: () => !existsSync(join(bench.outside, 'dir')) },
  { name: 'symlink', text: 'ln -s x "$2/new"', leaves: () => readdirSync(bench.outside).includes('new') },
  { name: 'fifo', text: 'mkfifo "$2/new"', leaves: () => existsSync(join(bench.outside, 'new')) },
  {
    name: 'socket',
    text: bindSocket('"$2/new"'),
    leaves: () => existsSync(join(bench.outside, 'new')),
  },
  { name: 'rename in place', text: 'mv "$2/victim" "$2/new"', leaves: () => victim() === undefined },
  {
    name: 'rename into the workspace',
    text: 'perl -e \'rename("$ARGV[1]/victim", "$ARGV[0]/taken")\' "$1" "$2"',
    leaves: () => victim() === undefined,
  },
  {
    name: 'rename out of the workspace',
    text: 'echo x > "$1/mine"; perl -e \'rename("$ARGV[0]/mine", "$ARGV[1]/new")\' "$1" "$2"',
    leaves: () => existsSync(join(bench.outside, 'new')),
  },
  {
    name: 'link into the workspace',
    text: 'ln "$2/victim" "$1/linked"',
    leaves: () => existsSync(join(bench.workspace, 'linked')),
  },
  {
    name: 'link out of the workspace',
    text: 'echo x > "$1/mine"; ln "$1/mine" "$2/new"',
    leaves: () => existsSync(join(bench.outside, 'new')),
  },
  {
    name: 'write through a symbolic link',
    text: 'ln -s "$2" "$1/door"; echo x > "$1/door/new"',
    leaves: () => existsSync(join(bench.outside, 'new')),
  },
]

function victim(): string | undefined {
  const path = join(bench.outside, 'victim')
  return existsSync(path) ? readFileSync(path, 'utf8') : undefined
}

function arrange(identity: Identity): void {
  bench.giveTo(identity)
  putFile(join(bench.outside, 'victim'), 'old\n', identity)
  mkdirSync(join(bench.outside, 'dir'))
}

describe.each(IDENTITIES)('files, as $name', (identity) => {
  it('in a granted directory everything works', () => {
    arrange(identity)
    const { status, stderr } = run([...inWorkspace(), ...script(ALLOWED_INSIDE)], { identity })
    expect({ status, stderr }).toEqual({ status: 0, stderr: '' })
    expect(readdirSync(bench.workspace).toSorted()).toEqual(['dir', 'fifo', 'kept', 'own-true', 'socket'])
    expect(readFileSync(join(bench.workspace, 'kept'), 'utf8')).toBe('one')
    expect(readdirSync(join(bench.workspace, 'dir')).toSorted()).toEqual(['file', 'soft'])
  })

  it.each(ATTACKS)('outside: $name works in the open', ({ text, leaves }) => {
    arrange(identity)
    run(script(text), { identity })
    expect(leaves()).toBe(true)
  })

  it.each(ATTACKS)('outside: $name is denied', ({ text, leaves }) => {
    arrange(identity)
    run([...inWorkspace(), ...script(text)], { identity })
    expect(leaves()).toBe(false)
  })

  it('two granted directories exchange files', () => {
    arrange(identity)
    const grants = ['--rw', bench.workspace, '--rw', bench.outside]
    run([...confined(...grants), ...script('mv "$2/victim" "$1/v" && ln "$1/v" "$2/again"')], { identity })
    expect([readdirSync(bench.workspace), readdirSync(bench.outside)]).toEqual([['v'], ['again', 'dir']])
  })

  it('a grant that is a symbolic link is one of what it points to', () => {
    arrange(identity)
    const link = join(bench.workspace, 'link')
    symlinkSync(bench.outside, link)
    run([...confined('--rw', link), ...script('echo new > "$2/victim"; echo x > "$1/new"')], { identity })
    expect([victim(), readdirSync(bench.workspace)]).toEqual(['new\n', ['link']])
  })

  it('a granted file is writable, what lies beside it is not', () => {
    arrange(identity)
    const file = join(bench.outside, 'victim')
    const text = 'echo new > "$2/victim"; echo x > "$2/new"'
    const { stderr } = run([...confined('--rw', file), ...script(text)], { identity })
    expect([victim(), readdirSync(bench.outside)]).toEqual(['new\n', ['dir', 'victim']])
    expect(stderr).toBe(`sh: 1: cannot create ${bench.outside}/new: Permission denied\n`)
  })

  it('what is not granted cannot be read', () => {
    arrange(identity)
    const libraries = ['/usr', '/bin', '/lib', '/lib64'].filter((path) => existsSync(path))
    const argv = [
      bench.launcher,
      ...libraries.flatMap((path) => ['--ro', path]),
      '--',
      ...script('cat "$2/victim"; ls "$2"'),
    ]
    expect(run(script('cat "$2/victim"'), { identity }).stdout).toBe('old\n')
    expect(run(argv, { identity })).toMatchObject({
      stdout: '',
      stderr:
        `cat: ${bench.outside}/victim: Permission denied\n` +
        `ls: cannot open directory '${bench.outside}': Permission denied\n`,
    })
  })

  it('--no-landlock drops the file rules alone', () => {
    arrange(identity)
    const argv = [
      bench.launcher,
      '--no-landlock',
      '--ro',
      '/',
      '--',
      ...script('echo x > "$2/new"; grep NoNew /proc/self/status'),
    ]
    expect(run(argv, { identity }).stdout).toBe('NoNewPrivs:\t1\n')
    expect(existsSync(join(bench.outside, 'new'))).toBe(true)
  })
})

describe('device nodes', () => {
  const NODES = [
    { name: 'character', text: 'mknod "$1/node" c 1 3' },
    { name: 'block', text: 'mknod "$1/node" b 7 200' },
  ]

  it.runIf(AS_ROOT).each(NODES)('$name: root can make one in the open', ({ text }) => {
    run(script(text))
    expect(readdirSync(bench.workspace)).toEqual(['node'])
  })

  it.runIf(AS_ROOT).each(NODES)('$name: refused by Landlock, and by capabilities without it', ({ text }) => {
    const under = (words: string) => `mknod: ${bench.workspace}/node: ${words}\n`
    expect(run([...inWorkspace(), ...script(text)]).stderr).toBe(under('Permission denied'))
    expect(run([bench.launcher, '--no-landlock', '--', ...script(text)]).stderr).toBe(
      under('Operation not permitted'),
    )
    expect(readdirSync(bench.workspace)).toEqual([])
  })

  it.each(IDENTITIES)('an overlay whiteout, which needs no capability, is refused to $name', (identity) => {
    bench.giveTo(identity)
    run(script('mknod "$1/open" c 0 0'), { identity })
    run([...inWorkspace(), ...script('mknod "$1/confined" c 0 0')], { identity })
    expect(readdirSync(bench.workspace)).toEqual(['open'])
  })
})

describe.each(IDENTITIES)('devices, as $name', (identity) => {
  const ioctl = ['stty', '-F', '/dev/ptmx', 'size']

  it('are written to when granted, and only then', () => {
    const write = ['sh', '-c', 'echo x > /dev/null']
    expect(run([...confined('--dev', '/dev/null'), ...write], { identity }).status).toBe(0)
    expect(run([...confined(), ...write], { identity })).toMatchObject({
      status: 2,
      stderr: 'sh: 1: cannot create /dev/null: Permission denied\n',
    })
  })

  it('answer ioctls under --dev and, from ABI 5, not under --rw', () => {
    expect(run(ioctl, { identity }).stdout).toBe('0 0\n')
    expect(run([...confined('--dev', '/dev/ptmx'), ...ioctl], { identity }).stdout).toBe('0 0\n')
    expect(run([...confined('--rw', '/dev/ptmx'), ...ioctl], { identity })).toMatchObject(
      ABI >= 5
        ? { status: 1, stdout: '', stderr: 'stty: /dev/ptmx: Permission denied\n' }
        : { status: 0, stdout: '0 0\n', stderr: '' },
    )
  })

  it('are all that a granted directory of theirs gives: nothing is made or removed in it', () => {
    arrange(identity)
    const text = 'echo x > "$2/new"; rm "$2/victim"; mkdir "$2/newer"'
    run([...confined('--dev', bench.outside), ...script(text)], { identity })
    expect(readdirSync(bench.outside)).toEqual(['dir', 'victim'])
    run(script(text), { identity })
    expect(readdirSync(bench.outside)).toEqual(['dir', 'new', 'newer'])
  })

  it('that do not exist are skipped; any other trouble is not', () => {
    expect(run([...confined('--dev', '/dev/no-such'), 'true'], { identity }).status).toBe(0)
    expect(run([...confined('--dev', '/etc/passwd/x'), 'true'], { identity })).toMatchObject({
      status: 125,
      stderr: 'landlock-run: open-grant /etc/passwd/x: Not a directory\n',
    })
  })
})

/** What sem_open(3), shm_open(3) and their unlinking do, as strace(1) shows it for glibc 2.36. */
const SEGMENT =
  'set -C; cd "$1"; echo made > sem.new && ln sem.new sem.name && rm sem.new && echo more >> sem.name && truncate -s 3 sem.name && cat sem.name && rm sem.name'

describe.each(IDENTITIES)('shared memory, as $name', (identity) => {
  const shared = () => confined('--shm', bench.workspace)
  const BEYOND = [
    { name: 'a directory', text: 'mkdir "$1/new"' },
    { name: 'a symbolic link', text: 'ln -s / "$1/new"' },
    { name: 'a fifo', text: 'mkfifo "$1/new"' },
    { name: 'a socket', text: bindSocket('"$1/new"') },
    { name: 'a link to a file elsewhere', text: 'ln "$2/victim" "$1/new"' },
    {
      name: 'a file from elsewhere',
      text: 'perl -e \'rename("$ARGV[1]/victim", "$ARGV[0]/new")\' "$1" "$2"',
    },
  ]

  it('segments are made, used and removed when granted, and only then', () => {
    arrange(identity)
    expect(run([...confined(), ...script(SEGMENT)], { identity })).toMatchObject({
      stdout: '',
      stderr: 'sh: 1: cannot create sem.new: Permission denied\n',
    })
    expect(run([...shared(), ...script(SEGMENT)], { identity })).toMatchObject({
      status: 0,
      stdout: 'mad',
      stderr: '',
    })
    expect(readdirSync(bench.workspace)).toEqual([])
  })

  it('what lies there is not executed', () => {
    arrange(identity)
    const text = 'echo "echo ran" > "$1/new" && chmod 755 "$1/new" && "$1/new"'
    expect(run(script(text), { identity }).stdout).toBe('ran\n')
    rmSync(join(bench.workspace, 'new'))
    const bare = [bench.launcher, '--ro', '/usr', '--ro', '/lib', '--ro', '/lib64', '--ro', '/bin']
    expect(run([...bare, '--shm', bench.workspace, '--', ...script(text)], { identity }).stdout).toBe('')
    expect(readdirSync(bench.workspace)).toEqual(['new'])
  })

  it.each(BEYOND)('$name can be put there in the open', ({ text }) => {
    arrange(identity)
    run(script(text), { identity })
    expect(readdirSync(bench.workspace)).toEqual(['new'])
  })

  it.each(BEYOND)('$name cannot', ({ text }) => {
    arrange(identity)
    run([...shared(), ...script(text)], { identity })
    expect([readdirSync(bench.workspace), victim()]).toEqual([[], 'old\n'])
  })

  it('a place that does not exist is skipped; any other trouble is not', () => {
    expect(run([...confined('--shm', '/dev/no-such'), 'true'], { identity }).status).toBe(0)
    expect(run([...confined('--shm', '/etc/passwd/x'), 'true'], { identity })).toMatchObject({
      status: 125,
      stderr: 'landlock-run: open-grant /etc/passwd/x: Not a directory\n',
    })
  })
})

/** A directory's identity as `--rw-pinned` takes it. */
function pinOf(path: string): string {
  const { dev, ino } = statSync(path, { bigint: true })
  return `${dev}:${ino}`
}

/** Where a test puts the directory that was pinned. */
const aside = () => join(bench.outside, 'aside')

describe.each(IDENTITIES)('pins, as $name', (identity) => {
  const pinned = (mode: readonly string[], pin: string) => {
    const argv = [bench.launcher, ...mode, '--status-fd', '3', '--rw-pinned', pin, bench.workspace, '--']
    return runReporting([...argv, 'touch', join(bench.workspace, 'ran')], { identity })
  }

  it('a directory that is still itself is granted', () => {
    bench.giveTo(identity)
    expect(pinned(['--ro', '/'], pinOf(bench.workspace))).toMatchObject({ status: 0, report: 'ready\n' })
    expect(readdirSync(bench.workspace)).toEqual(['ran'])
  })

  const SWAPS = [
    {
      to: 'a symbolic link to itself',
      swap: () => symlinkSync(aside(), bench.workspace),
      error: 40,
      says: 'Too many levels of symbolic links',
    },
    {
      to: 'another directory',
      swap: () => mkdirSync(bench.workspace, { mode: 0o777 }),
      error: 116,
      says: 'Stale file handle',
    },
    { to: 'a file', swap: () => writeFileSync(bench.workspace, ''), error: 20, says: 'Not a directory' },
    { to: 'nothing', swap: () => undefined, error: 2, says: 'No such file or directory' },
  ]
  const MODES = [['--ro', '/'], ['--no-landlock']]

  it.each(SWAPS.flatMap((swap) => MODES.map((mode) => ({ ...swap, mode }))))(
    'swapped for $to it is refused: $mode',
    ({ swap, error, says, mode }) => {
      bench.giveTo(identity)
      const pin = pinOf(bench.workspace)
      renameSync(bench.workspace, aside())
      swap()
      const ended = pinned(mode, pin)
      expect(readdirSync(aside())).toEqual([])
      expect(ended).toEqual({
        status: 125,
        signal: null,
        stdout: '',
        stderr: `landlock-run: pin ${bench.workspace}: ${says}\n`,
        report: `failed pin ${error} ${bench.workspace}\n`,
      })
    },
  )
})

const kill = (pid: number) => ['sh', '-c', `kill -TERM ${pid}`]
const lookInto = (pid: number) => ['sh', '-c', `head -c 1 /proc/${pid}/environ | wc -c`]

describe.each(IDENTITIES)('other processes, as $name', (identity) => {
  /**
   * Runs a process of the same user meanwhile, from its first word on. It ends by a signal or by its closed stdin;
   * what comes back is the signal or the exit status.
   */
  async function whileRunning(argv: readonly string[], use: (pid: number) => void): Promise<string | number> {
    const [program = '', ...args] = [...identity.prefix, ...argv]
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'inherit'] })
    const gone = once(child, 'exit')
    await once(child.stdout, 'data')
    try {
      // The compiler cannot know that a process that has spoken has a pid.
      use(child.pid as number)
    } finally {
      child.stdin.end()
    }
    const [status, signal] = await gone
    return signal ?? status
  }

  const withVictim = (use: (pid: number) => void) => whileRunning(['sh', '-c', 'echo up; exec cat'], use)

  it('are killed in the open, and without Landlock', async () => {
    expect(await withVictim((pid) => run(kill(pid), { identity }))).toBe('SIGTERM')
  })

  it.runIf(ABI >= 6)('are out of reach of signals from ABI 6', async () => {
    const end = await withVictim((pid) => {
      expect(run([...inWorkspace(), ...kill(pid)], { identity })).toMatchObject({
        status: 1,
        stderr: 'sh: 1: kill: Operation not permitted\n\n',
      })
    })
    expect(end).toBe(0)
  })

  it.runIf(ABI >= 6)('include the harness itself', () => {
    const { status, stderr } = run([...inWorkspace(), 'sh', '-c', 'kill -0 $PPID; kill -0 $$ && exit 4'], {
      identity,
    })
    expect({ status, stderr }).toEqual({ status: 4, stderr: 'sh: 1: kill: Operation not permitted\n\n' })
  })

  it('cannot be traced or looked into', async () => {
    await withVictim((pid) => {
      expect(run(lookInto(pid), { identity }).stdout).toBe('1\n')
      expect(run([...inWorkspace(), ...lookInto(pid)], { identity }).stdout).toBe('0\n')
    })
  })

  it.runIf(ABI >= 6)('do not answer on abstract sockets', async () => {
    const name = `dsh-landlock-${process.pid}-${identity.uid}`
    const socket =
      'use Socket; socket(S, AF_UNIX, SOCK_STREAM, 0) or die; $a = pack_sockaddr_un("\\0$ARGV[0]");'
    const listen = `${socket} $| = 1; bind(S, $a) && listen(S, 9) or die; print "up"; <STDIN>`
    const connect = ['perl', '-e', `${socket} print connect(S, $a) ? "connected" : $!`, name]
    await whileRunning(['perl', '-e', listen, name], () => {
      expect(run(connect, { identity }).stdout).toBe('connected')
      expect(run([...inWorkspace(), ...connect], { identity }).stdout).toBe('Operation not permitted')
    })
  })

  it('a second layer inside the first cannot widen it', () => {
    arrange(identity)
    const inner = [bench.launcher, '--rw', '/', '--', ...script('echo x > "$2/new"; echo y > "$1/fine"')]
    run([...inWorkspace(), ...inner], { identity })
    expect([readdirSync(bench.outside), readdirSync(bench.workspace)]).toEqual([['dir', 'victim'], ['fine']])
  })
})

describe('other kernels', () => {
  /** A number that no kernel has yet must not stop a launch. */
  const FUTURE_ABI = 99
  const SIMULATED = [...[1, 2, 3, 4, 5, 6, 7].filter((abi) => abi <= ABI), FUTURE_ABI]

  describe.each(IDENTITIES)('as $name', (identity) => {
    it.each(SIMULATED)('ABI %i: a segment in shared memory, and nothing but files', (abi) => {
      arrange(identity)
      const simulated = [bench.faultRun, '--landlock-abi', String(abi), '--']
      const text = `${SEGMENT}; mkdir "$1/dir"`
      const argv = [...simulated, ...confined('--shm', bench.workspace), ...script(text)]
      expect(run(argv, { identity }).stdout).toBe('mad')
      expect(readdirSync(bench.workspace)).toEqual([])
    })

    it.each(SIMULATED)('ABI %i starts, allows inside, denies outside', (abi) => {
      arrange(identity)
      const simulated = [bench.faultRun, '--landlock-abi', String(abi), '--']
      expect(parseProbe(run([...simulated, bench.launcher, '--probe'], { identity }).stdout)?.abi).toBe(abi)
      const text = `
        echo x > "$1/new"; echo x > "$2/new"; mknod "$1/node" c 0 0
        perl -e 'truncate($ARGV[0], 0)' "$2/victim"; mkdir "$1/dir"; mv "$1/new" "$1/dir/new"; kill -0 $PPID && : > "$1/signalled"
        stty -F /dev/ptmx size > "$1/ioctl"
      `
      const grants = ['--status-fd', '3', '--ro', '/', '--rw', bench.workspace, '--rw', '/dev/ptmx', '--']
      const { report } = runReporting([...simulated, bench.launcher, ...grants, ...script(text)], {
        identity,
      })
      expect(report).toBe('ready\n')
      expect(readdirSync(bench.outside)).toEqual(['dir', 'victim'])
      expect(victim()).toBe(abi >= 3 ? 'old\n' : '')
      expect(readFileSync(join(bench.workspace, 'ioctl'), 'utf8')).toBe(abi >= 5 ? '' : '0 0\n')
      // `mv` copies where ABI 1 denies the rename, so the file arrives either way.
      expect(readdirSync(bench.workspace).toSorted()).toEqual(
        abi >= 6 ? ['dir', 'ioctl'] : ['dir', 'ioctl', 'signalled'],
      )
      expect(readdirSync(join(bench.workspace, 'dir'))).toEqual(['new'])
    })

    it.each([
      { error: 38, says: 'Function not implemented' },
      { error: 95, says: 'Operation not supported' },
      { error: 1, says: 'Operation not permitted' },
    ])('errno $error runs nothing, unless Landlock is not asked for', ({ error, says }) => {
      arrange(identity)
      const without = [bench.faultRun, '--landlock-errno', String(error), '--', bench.launcher]
      const stderr = `landlock-run: create-ruleset: ${says}\n`
      const touch = ['touch', join(bench.workspace, 'ran')]
      const grants = ['--status-fd', '3', '--ro', '/', '--rw', bench.workspace, '--']
      const ended = runReporting([...without, ...grants, ...touch], { identity })
      expect(readdirSync(bench.workspace)).toEqual([])
      expect(ended).toEqual({
        status: 125,
        signal: null,
        stdout: '',
        stderr,
        report: `failed create-ruleset ${error} -\n`,
      })
      expect(run([...without, '--probe'], { identity })).toEqual({
        status: 125,
        signal: null,
        stdout: '',
        stderr,
      })
      expect(run([...without, '--no-landlock', '--', ...touch], { identity }).status).toBe(0)
      expect(readdirSync(bench.workspace)).toEqual(['ran'])
    })
  })
})

it('a hard link made beforehand is writable where it is granted: path rules follow the path', () => {
  putFile(join(bench.outside, 'victim'), 'old\n', { name: 'root', uid: process.getuid?.() ?? 0, prefix: [] })
  linkSync(join(bench.outside, 'victim'), join(bench.workspace, 'linked'))
  run([...inWorkspace(), ...script('echo new > "$1/linked"')])
  expect(victim()).toBe('new\n')
})
