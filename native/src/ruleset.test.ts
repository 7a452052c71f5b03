/** The binding on the real kernel, each ruleset in a process of its own. Every act is first done without one. */

import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  rmSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { IDENTITIES, landlockAbi, type Identity } from '../test/bench.ts'
import { BUILT } from '../test/needs.ts'
import { useBindingBench } from '../test/binding-bench.ts'

const bench = useBindingBench()
const KERNEL_ABI = landlockAbi()
/** ABIs that the running kernel can be made to look like. */
const SIMULATED = [1, 2, 3, 4, 5, 6, 7].filter((abi) => abi <= KERNEL_ABI)
const simulated = (abi: number) => [bench.faultRun, '--landlock-abi', String(abi), '--']

/** `in/old` and `out/old`, which everybody may write. */
function arrange(): void {
  for (const name of ['in', 'out']) {
    const folder = join(bench.folder, name)
    mkdirSync(folder)
    chmodSync(folder, 0o777)
    writeFileSync(join(folder, 'old'), 'old')
    chmodSync(join(folder, 'old'), 0o666)
  }
}

/** Restricts all that the kernel has to reading, and to everything in `in`. */
const RESTRICT = `
  const rights = landlock.features().fs
  const ruleset = new landlock.Ruleset({ handledAccessFs: rights, compatibility: 'strict' })
  ruleset.allowPath('/', ['execute', 'read_file', 'read_dir'])
  ruleset.allowPath(folder + '/in', rights)
  ruleset.restrictSelf()
`

/** Each act by its name, with the errno it meets or `done`. */
const ACTS = `
  const act = (does) => { try { does(); return 'done' } catch (error) { return error.code } }
  const acts = (where) => ({
    read: act(() => fs.readFileSync(where + '/old')),
    write: act(() => fs.writeFileSync(where + '/old', 'new')),
    create: act(() => fs.writeFileSync(where + '/made', '')),
    mkdir: act(() => fs.mkdirSync(where + '/dir')),
    symlink: act(() => fs.symlinkSync('x', where + '/link')),
    remove: act(() => fs.rmSync(where + '/old')),
  })
`

const ALL_DONE = {
  read: 'done',
  write: 'done',
  create: 'done',
  mkdir: 'done',
  symlink: 'done',
  remove: 'done',
}
const ONLY_READ = {
  read: 'done',
  write: 'EACCES',
  create: 'EACCES',
  mkdir: 'EACCES',
  symlink: 'EACCES',
  remove: 'EACCES',
}

describe.each(IDENTITIES)('files, as $name', (identity: Identity) => {
  it('without a ruleset everything works in both folders', () => {
    arrange()
    const body = `${ACTS} return [acts(folder + '/in'), acts(folder + '/out')]`
    expect(bench.evaluate(body, { identity })).toEqual([ALL_DONE, ALL_DONE])
  })

  it('with one only where a rule allows it', () => {
    arrange()
    const body = `${RESTRICT} ${ACTS} return [acts(folder + '/in'), acts(folder + '/out')]`
    expect(bench.evaluate(body, { identity })).toEqual([ALL_DONE, ONLY_READ])
    expect(readFileSync(join(bench.folder, 'out', 'old'), 'utf8')).toBe('old')
  })

  it('children are bound too', () => {
    arrange()
    const child = `
      const { spawnSync } = await import('node:child_process')
      return ['in', 'out'].map((name) => spawnSync('sh', ['-c', 'echo x > "$1"', 'sh', folder + '/' + name + '/new']).status)`
    expect(bench.evaluate(child, { identity })).toEqual([0, 0])
    rmSync(join(bench.folder, 'out', 'new'))
    expect(bench.evaluate(RESTRICT + child, { identity })).toEqual([0, 2])
    expect(() => statSync(join(bench.folder, 'out', 'new'))).toThrow('ENOENT')
  })
})

it('a rule on a file allows that file alone', () => {
  arrange()
  const body = `
    const ruleset = new landlock.Ruleset({ handledAccessFs: ['write_file', 'make_reg'] })
    ruleset.allowPath(folder + '/out/old', ['write_file']).restrictSelf()
    ${ACTS} const { write, create } = acts(folder + '/out'); return { write, create }`
  expect(bench.evaluate(body)).toEqual({ write: 'done', create: 'EACCES' })
})

it('a name may hold a space, a line break, or bytes that are no text', () => {
  const body = `
    const names = ['a b', 'a\\nb', 'é'].map((name) => Buffer.from(name)).concat(Buffer.from([0x66, 0xff]))
    const paths = names.map((name) => Buffer.concat([Buffer.from(folder + '/'), name]))
    for (const path of paths) fs.mkdirSync(path)
    const ruleset = new landlock.Ruleset({ handledAccessFs: ['make_dir'] })
    ruleset.allowPath(paths[0].toString(), ['make_dir'])
    ruleset.allowPath(paths[1].toString(), ['make_dir'])
    ruleset.allowPath(paths[3], ['make_dir'])
    ruleset.restrictSelf()
    return paths.map((path) => {
      try { fs.mkdirSync(Buffer.concat([path, Buffer.from('/new')])); return 'done' } catch (error) { return error.code }
    })`
  expect(bench.evaluate(body)).toEqual(['done', 'done', 'EACCES', 'done'])
})

it('a thousand rules hold', () => {
  const body = `
    const ruleset = new landlock.Ruleset({ handledAccessFs: ['make_reg'] })
    const paths = Array.from({ length: 1000 }, (_, index) => folder + '/' + index)
    for (const path of [...paths, folder + '/other']) fs.mkdirSync(path)
    for (const path of paths) ruleset.allowPath(path, ['make_reg'])
    ruleset.restrictSelf()
    const made = (path) => { try { fs.writeFileSync(path + '/new', ''); return true } catch { return false } }
    return [paths.filter(made).length, made(folder + '/other')]`
  expect(bench.evaluate(body)).toEqual([1000, false])
})

it('no_new_privs is set', () => {
  const flag = `/^NoNewPrivs:\\s+(\\d)/m.exec(fs.readFileSync('/proc/self/status', 'latin1'))[1]`
  const body = `
    const before = ${flag}
    new landlock.Ruleset({ handledAccessFs: ['make_reg'] }).restrictSelf()
    return [before, ${flag}]`
  expect(bench.evaluate(body)).toEqual(['0', '1'])
})

describe.runIf(KERNEL_ABI >= 4)('ports', () => {
  const CONNECTS = `
    const net = await import('node:net')
    const listen = () => new Promise((resolve) => { const s = net.createServer().listen(0, '127.0.0.1', () => resolve(s)) })
    const connects = (port) => new Promise((resolve) => {
      const socket = net.connect(port, '127.0.0.1').on('connect', () => { socket.destroy(); resolve('done') })
        .on('error', (error) => resolve(error.code))
    })
    const servers = [await listen(), await listen()]
    const ports = servers.map((server) => server.address().port)
    const all = async () => {
      const results = await Promise.all(ports.map(connects))
      for (const server of servers) server.close()
      return results
    }
  `

  it('are all reached without a ruleset', () => {
    expect(bench.evaluate(`${CONNECTS} return all()`)).toEqual(['done', 'done'])
  })

  it('are reached where a rule allows it', () => {
    const body = `${CONNECTS}
      const ruleset = new landlock.Ruleset({ handledAccessNet: ['connect_tcp'] })
      ruleset.allowNetPort(ports[0], ['connect_tcp']).restrictSelf()
      return all()`
    expect(bench.evaluate(body)).toEqual(['done', 'EACCES'])
  })
})

it.runIf(KERNEL_ABI >= 6)('a scope keeps signals inside', () => {
  const signals = `
    try { process.kill(process.ppid, 0); return 'done' } catch (error) { return error.code }`
  expect(bench.evaluate(signals)).toBe('done')
  const body = `new landlock.Ruleset({ scoped: ['signal'] }).restrictSelf(); ${signals}`
  expect(bench.evaluate(body)).toBe('EPERM')
})

describe('threads', () => {
  const SECRET = `
    fs.writeFileSync(folder + '/secret', 'secret')
    const seen = (error) => error.code
    const bySelf = () => { try { return fs.readFileSync(folder + '/secret', 'utf8') } catch (error) { return error.code } }
    const byPool = () => fs.promises.readFile(folder + '/secret', 'utf8').catch(seen)
    const ruleset = new landlock.Ruleset({ handledAccessFs: ['read_file'] })
    const { Worker } = await import('node:worker_threads')
    const startWorker = () => {
      const worker = new Worker(
        "const fs = require('fs'); const { parentPort } = require('worker_threads');" +
        "parentPort.postMessage('up'); parentPort.once('message', (path) => {" +
        "let value; try { value = fs.readFileSync(path, 'utf8') } catch (error) { value = error.code }" +
        "parentPort.postMessage(value) })", { eval: true, execArgv: [] })
      const next = () => new Promise((resolve) => worker.once('message', resolve))
      return { up: next(), ask: () => { const answer = next(); worker.postMessage(folder + '/secret'); return answer } }
    }
  `

  it('the calling thread alone is bound: a pool and a worker that were there before still read', () => {
    const body = `${SECRET}
      await fs.promises.stat(folder)
      const early = startWorker()
      await early.up
      ruleset.restrictSelf()
      const late = startWorker()
      await late.up
      return { self: bySelf(), pool: await byPool(), early: await early.ask(), late: await late.ask() }`
    expect(bench.evaluate(body)).toEqual({ self: 'EACCES', pool: 'secret', early: 'secret', late: 'EACCES' })
  })

  it.runIf(KERNEL_ABI >= 8)('allThreads binds those too', () => {
    const body = `${SECRET}
      await fs.promises.stat(folder)
      const early = startWorker()
      await early.up
      ruleset.restrictSelf({ allThreads: true })
      return { self: bySelf(), pool: await byPool(), early: await early.ask() }`
    expect(bench.evaluate(body)).toEqual({ self: 'EACCES', pool: 'EACCES', early: 'EACCES' })
  })

  it.each(['strict', 'best-effort'])(
    'below ABI 8 allThreads is refused, and nobody bound: %s',
    (compatibility) => {
      const body = `
      fs.writeFileSync(folder + '/secret', 'secret')
      const ruleset = new landlock.Ruleset({ handledAccessFs: ['read_file'], compatibility: '${compatibility}' })
      const refusal = thrown(() => ruleset.restrictSelf({ allThreads: true }))
      return [refusal, fs.readFileSync(folder + '/secret', 'utf8'), ruleset.dropped]`
      expect(bench.evaluate(body, { front: simulated(Math.min(7, KERNEL_ABI)) })).toEqual([
        {
          name: 'LandlockError',
          step: 'compatibility',
          errno: 95,
          code: 'EOPNOTSUPP',
          message: `the kernel's Landlock ABI is ${Math.min(7, KERNEL_ABI)}, which lacks tsync (ABI 8, Linux 7.0)`,
        },
        'secret',
        [],
      ])
    },
  )
})

describe('older kernels', () => {
  const WISH = `{
    handledAccessFs: landlock.features(7).fs, handledAccessNet: ['connect_tcp'], scoped: ['signal'],`

  it.each(SIMULATED)('ABI %i: best effort drops what is missing, and the rest holds', (abi) => {
    arrange()
    const body = `
      const ruleset = new landlock.Ruleset(${WISH} compatibility: 'best-effort' })
      ruleset.allowPath('/', ['execute', 'read_file', 'read_dir'])
      ruleset.allowPath(folder + '/in', landlock.features(7).fs)
      ruleset.allowNetPort(443, ['connect_tcp'])
      ruleset.restrictSelf({ log: ['log_same_exec_off'] })
      ${ACTS}
      return [landlock.abi(), ruleset.dropped.map(({ name }) => name), acts(folder + '/in'), acts(folder + '/out')]`
    const lacking = [
      { name: 'refer', from: 2 },
      { name: 'truncate', from: 3 },
      { name: 'ioctl_dev', from: 5 },
      { name: 'connect_tcp', from: 4 },
      { name: 'signal', from: 6 },
      { name: 'log_same_exec_off', from: 7 },
    ].filter(({ from }) => from > abi)
    expect(bench.evaluate(body, { front: simulated(abi) })).toEqual([
      abi,
      lacking.map(({ name }) => name),
      ALL_DONE,
      ONLY_READ,
    ])
  })

  it.each(SIMULATED)('ABI %i: truncate(2) outside is denied from ABI 3 on', (abi) => {
    arrange()
    const body = `
      const ruleset = new landlock.Ruleset({ handledAccessFs: ['truncate', 'make_dir'], compatibility: 'best-effort' })
      ruleset.restrictSelf()
      const { spawnSync } = await import('node:child_process')
      return spawnSync('perl', ['-e', 'truncate($ARGV[0], 0) or exit 1', folder + '/out/old']).status`
    expect(bench.evaluate(body, { front: simulated(abi) })).toBe(abi < 3 ? 0 : 1)
    expect(statSync(join(bench.folder, 'out', 'old')).size).toBe(abi < 3 ? 0 : 3)
  })

  it.each(SIMULATED.filter((abi) => abi < 6))('ABI %i: strict throws and names what is missing', (abi) => {
    const body = `return [thrown(() => new landlock.Ruleset({ handledAccessFs: ['read_file'], scoped: ['signal'] }))]`
    expect(bench.evaluate(body, { front: simulated(abi) })).toEqual([
      {
        name: 'LandlockError',
        step: 'compatibility',
        errno: 95,
        code: 'EOPNOTSUPP',
        message: `the kernel's Landlock ABI is ${abi}, which lacks signal (ABI 6, Linux 6.12)`,
      },
    ])
  })

  it('strict refuses a log flag that is missing, and binds nobody', () => {
    const body = `
      const ruleset = new landlock.Ruleset({ handledAccessFs: ['make_dir'] })
      const refusal = thrown(() => ruleset.restrictSelf({ log: ['log_new_exec_on'] }))
      fs.mkdirSync(folder + '/new')
      return refusal.step`
    expect(bench.evaluate(body, { front: simulated(Math.min(6, KERNEL_ABI)) })).toBe('compatibility')
  })

  it('best effort with nothing left makes no ruleset', () => {
    const body = `return thrown(() => new landlock.Ruleset({ scoped: ['signal'], compatibility: 'best-effort' }))`
    expect(bench.evaluate(body, { front: simulated(1) })).toMatchObject({
      step: 'create-ruleset',
      code: 'ENOMSG',
    })
  })

  it('an ABI of the future is taken for the highest known one', () => {
    const body = `return [landlock.abi(), landlock.features().abi, landlock.probe().abi]`
    expect(bench.evaluate(body, { front: simulated(99) })).toEqual([99, 11, 99])
  })

  it.each([
    { errno: 38, code: 'ENOSYS' },
    { errno: 95, code: 'EOPNOTSUPP' },
    { errno: 1, code: 'EPERM' },
  ])('none at all, $code: all but probe throws', ({ errno, code }) => {
    const front = [bench.faultRun, '--landlock-errno', String(errno), '--']
    const body = `
      const wish = { handledAccessFs: ['read_file'], compatibility: 'best-effort' }
      const { message, ...found } = landlock.probe()
      return [
        found, ...[() => landlock.abi(), () => landlock.errata(), () => landlock.features(), () => new landlock.Ruleset(wish)]
          .map((ask) => { const { name, step, errno, code } = thrown(ask); return { name, step, errno, code } }),
        landlock.features(3).fs.at(-1),
      ]`
    const failure = { name: 'LandlockError', step: 'create-ruleset', errno, code }
    expect(bench.evaluate(body, { front })).toEqual([
      { supported: false, step: 'create-ruleset', errno, code },
      failure,
      failure,
      failure,
      failure,
      'truncate',
    ])
  })
})

describe('mistakes', () => {
  const MAKE = `const ruleset = new landlock.Ruleset({ handledAccessFs: ['read_file', 'read_dir', 'make_reg'] })`

  it('a path that does not exist', () => {
    const body = `${MAKE}; return thrown(() => ruleset.allowPath(folder + '/no\\n', ['read_file']))`
    expect(bench.evaluate(body)).toEqual({
      name: 'LandlockError',
      step: 'open-path',
      errno: 2,
      code: 'ENOENT',
      path: `${bench.folder}/no\n`,
      message: `open-path "${bench.folder}/no\\n": ENOENT`,
    })
  })

  it('a path that does not exist, where its rights are dropped', () => {
    const body = `
      const ruleset = new landlock.Ruleset({ handledAccessFs: ['read_file', 'truncate'], compatibility: 'best-effort' })
      ruleset.allowPath(folder, ['truncate'])
      return thrown(() => ruleset.allowPath(folder + '/no', ['truncate'])).code`
    expect(bench.evaluate(body, { front: simulated(1) })).toBe('ENOENT')
  })

  it('a file with rights that only directories have', () => {
    arrange()
    const body = `${MAKE}; return thrown(() => ruleset.allowPath(folder + '/in/old', ['read_file', 'read_dir', 'make_reg']))`
    expect(bench.evaluate(body)).toEqual({
      name: 'LandlockError',
      step: 'add-rule',
      errno: 22,
      code: 'EINVAL',
      path: `${bench.folder}/in/old`,
      message:
        `add-rule "${bench.folder}/in/old": EINVAL ` +
        '(it is no directory, and only one can be given read_dir, make_reg)',
    })
  })

  it('a pipe', () => {
    const body = `${MAKE}; return thrown(() => ruleset.allowPath('/proc/self/fd/1', ['read_file'])).code`
    expect(bench.evaluate(body)).toBe('EBADFD')
  })

  it.each(['close', 'restrictSelf'])('any use after %s', (end) => {
    const body = `${MAKE}; ruleset.${end}()
      const uses = [
        () => ruleset.allowPath(folder, ['read_file']), () => ruleset.restrictSelf(), () => ruleset.close(),
        () => ruleset.restrictSelf({ log: ['log_subdomains_off'] })]
      return uses.map((use) => { const { step, code, path } = thrown(use); return { step, code, path } })`
    expect(bench.evaluate(body)).toEqual([
      { step: 'add-rule', code: 'EBADF', path: bench.folder },
      { step: 'restrict-self', code: 'EBADF' },
      {},
      { step: 'restrict-self', code: 'EBADF' },
    ])
  })

  it('the 17th layer', () => {
    const body = `
      const layer = () => new landlock.Ruleset({ handledAccessFs: ['make_reg'] }).restrictSelf()
      for (let count = 0; count < 16; count++) layer()
      return thrown(layer)`
    expect(bench.evaluate(body)).toMatchObject({ step: 'restrict-self', code: 'E2BIG' })
  })

  it('an argument of the wrong kind is a TypeError', () => {
    const body = `${MAKE}
      return [
        () => new landlock.Ruleset({ handledAccessFs: ['read'] }),
        () => new landlock.Ruleset({ handledAccessFs: ['read_file'], compatibility: 'none' }),
        () => ruleset.allowPath(folder, []),
        () => ruleset.allowPath(folder, ['execute']),
        () => ruleset.allowPath(folder + '\\0', ['read_file']),
        () => ruleset.allowNetPort(80, ['bind_tcp']),
        () => ruleset.allowNetPort(65536, ['bind_tcp']),
        () => landlock.features(0),
      ].map((use) => thrown(use).name)`
    expect(bench.evaluate(body)).toEqual(Array.from({ length: 8 }, () => 'TypeError'))
  })

  it('nothing to restrict', () => {
    expect(bench.evaluate('return thrown(() => new landlock.Ruleset({}))')).toMatchObject({
      step: 'create-ruleset',
      code: 'ENOMSG',
    })
  })
})

describe('descriptors', () => {
  const COUNT = `
    const rulesets = () => fs.readdirSync('/proc/self/fd').filter((fd) => {
      try { return fs.readlinkSync('/proc/self/fd/' + fd).includes('landlock-ruleset') } catch { return false }
    }).length
    const make = () => new landlock.Ruleset({ handledAccessFs: ['read_file'] })`

  it('are closed by close, and once a ruleset is in force', () => {
    const body = `${COUNT}
      const [one, two] = [make(), make()]
      const counts = [rulesets()]
      one.close()
      counts.push(rulesets())
      two.allowPath('/', ['read_file']).restrictSelf()
      return [...counts, rulesets()]`
    expect(bench.evaluate(body)).toEqual([2, 1, 0])
  })

  it('are closed when a ruleset is collected', () => {
    const body = `${COUNT}
      const many = () => { for (let count = 0; count < 20; count++) make() }
      many()
      const before = rulesets()
      for (let turn = 0; turn < 100 && rulesets() > 0; turn++) {
        gc()
        await new Promise((resolve) => setImmediate(resolve))
      }
      return [before > 0, rulesets()]`
    expect(bench.evaluate(body)).toEqual([true, 0])
  })

  it('are closed when the worker that made them ends', () => {
    const body = `${COUNT}
      const { Worker } = await import('node:worker_threads')
      const text = "const { workerData, parentPort } = require('worker_threads'); import(workerData).then((landlock) => {" +
        "globalThis.kept = new landlock.Ruleset({ handledAccessFs: ['read_file'] });" +
        "parentPort.postMessage(landlock.abi()); parentPort.once('message', () => process.exit()) })"
      const worker = new Worker(text, { eval: true, execArgv: [], workerData: landlockUrl })
      const found = await new Promise((resolve) => worker.once('message', resolve))
      const during = rulesets()
      const ended = new Promise((resolve) => worker.once('exit', resolve))
      worker.postMessage('end')
      await ended
      return [found === landlock.abi(), during, rulesets()]`
    expect(bench.evaluate(body)).toEqual([true, 1, 0])
  })

  it('do not reach programs', () => {
    const body = `${COUNT}
      const kept = make()
      const { spawnSync } = await import('node:child_process')
      const { stdout } = spawnSync('ls', ['-l', '/proc/self/fd'], { encoding: 'utf8' })
      return [rulesets(), stdout.includes('landlock-ruleset'), kept.dropped]`
    expect(bench.evaluate(body)).toEqual([1, false, []])
  })
})

describe('a binding that cannot be loaded', () => {
  const BODY = `
    const { message, ...found } = landlock.probe()
    const error = thrown(() => landlock.abi())
    return [found, error.message === message, error.path, message.includes(addonPath)]`

  const makeDirectory = () => {
    rmSync(bench.addon)
    mkdirSync(bench.addon)
  }

  it('is missing: says where it was looked for', () => {
    rmSync(bench.addon)
    expect(bench.evaluate(BODY)).toEqual([
      { supported: false, step: 'locate-addon', errno: 2, code: 'ENOENT' },
      true,
      null,
      true,
    ])
  })

  it.each([
    // Past its header, loading it would end the process by SIGBUS.
    { name: 'cut off early', damage: () => truncateSync(bench.addon, 1000) },
    { name: 'cut off by a byte', damage: () => truncateSync(bench.addon, statSync(bench.addon).size - 1) },
    { name: 'cut off in its header', damage: () => truncateSync(bench.addon, 40) },
    { name: 'empty', damage: () => truncateSync(bench.addon, 0) },
    { name: 'text', damage: () => writeFileSync(bench.addon, 'not a library\n') },
    {
      name: 'of another make',
      damage: () => copyFileSync(join(BUILT, 'landlock-run'), bench.addon),
      errno: 0,
      code: 'ERR_DLOPEN_FAILED',
    },
    { name: 'a directory', damage: makeDirectory },
  ])('is $name: names the file', ({ damage, errno = 8, code = 'ENOEXEC' }) => {
    damage()
    expect(bench.evaluate(BODY)).toEqual([
      { supported: false, step: 'load-addon', errno, code },
      true,
      bench.addon,
      true,
    ])
  })

  it('is found again once it is put right', () => {
    const body = `
      const whole = fs.readFileSync(addonPath)
      fs.rmSync(addonPath)
      const first = landlock.probe().supported
      fs.writeFileSync(addonPath, whole)
      return [first, landlock.probe().supported]`
    expect(bench.evaluate(body)).toEqual([false, true])
  })

  it('is never met by importing the package', () => {
    const body = `return fs.readFileSync('/proc/self/maps', 'latin1').includes('landlock.node')`
    expect(bench.evaluate(body)).toBe(false)
    expect(bench.evaluate(`landlock.abi(); ${body}`)).toBe(true)
  })
})

it('errata are a bit mask', () => {
  expect(bench.evaluate('return landlock.errata()')).toEqual(expect.any(Number))
})

it('the example in the README runs as it is printed', () => {
  const readme = readFileSync(join(import.meta.dirname, '..', 'README.md'), 'utf8')
  const example = /```js\n([\s\S]*?)```/.exec(readme)?.[1] ?? ''
  expect(bench.runModule(example)).toBe('EACCES kept\n')
})

describe('native code itself', () => {
  const NATIVE = `
    const { createRequire } = await import('node:module')
    const native = createRequire(addonPath)(addonPath);`

  it('refuses a closed ruleset before the kernel sees it', () => {
    // 4 is log_subdomains_off, with which the kernel takes -1 for a ruleset: it would succeed, and bind nobody.
    const body = `${NATIVE}
      const ruleset = native.createRuleset(4n, 0n, 0n)
      native.close(ruleset)
      const outcome = native.restrictSelf(ruleset, 4n)
      return [outcome, /^NoNewPrivs:\\s+(\\d)/m.exec(fs.readFileSync('/proc/self/status', 'latin1'))[1]]`
    expect(bench.evaluate(body)).toEqual([{ step: 'restrict-self', errno: 9 }, '0'])
  })

  it('takes nothing but its own handles, whole numbers of bits and whole names', () => {
    const body = `${NATIVE}
      const ruleset = native.createRuleset(4n, 0n, 0n)
      return [
        () => native.createRuleset(4, 0n, 0n), () => native.createRuleset(-1n, 0n, 0n), () => native.createRuleset(1n << 64n, 0n, 0n),
        () => native.createRuleset(), () => native.close({}), () => native.close(), () => native.addPath(3, Buffer.from('/'), 4n),
        () => native.addPath(ruleset, '/', 4n), () => native.addPath(ruleset, Buffer.from('/\\0x'), 4n),
        () => native.addPort(ruleset, 65536, 1n), () => native.addPort(ruleset, 80.5, 1n), () => native.restrictSelf(ruleset, 1n << 32n),
      ].map((call) => thrown(call).name)`
    expect(bench.evaluate(body)).toEqual(Array.from({ length: 12 }, () => 'TypeError'))
  })

  it('says what the kernel says to bits that it does not know', () => {
    const body = `${NATIVE} return native.createRuleset(1n << 63n, 0n, 0n)`
    expect(bench.evaluate(body)).toEqual({ step: 'create-ruleset', errno: 22 })
  })
})
