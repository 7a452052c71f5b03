import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { backendFault, isRequired } from './required-backends.ts'

const repository = (path: string) => fileURLToPath(new URL(`../../${path}`, import.meta.url))

/** Programs that stand before Node: each is one kind of host. */
const HOSTS = {
  'Landlock underneath': [],
  'no Landlock': [repository('build/Release/fault-run'), '--landlock-errno', '38', '--'],
  'a Landlock that knows no truncation': [repository('build/Release/fault-run'), '--landlock-abi', '2', '--'],
} as const

/** The launcher and `fault-run`, which stands before it, are built together. */
const fault = isRequired('bwrap') ? undefined : await backendFault('bwrap')

const OWN_MOUNTS = ['unshare', '-m', '--propagation', 'private']

function lateMount(host: readonly string[], mode: string) {
  const [program = '', ...rest] = [
    ...OWN_MOUNTS,
    ...host,
    process.execPath,
    repository('test-fixtures/dist/late-mount-main.js'),
    mode,
  ]
  const { stdout, stderr } = spawnSync(program, rest, { encoding: 'utf8' })
  return stdout === '' ? { failed: stderr } : JSON.parse(stdout)
}

/** In a user namespace of an ordinary user's, where it could mount too, root's programs are nobody's and so not trusted. */
const isRoot = process.getuid?.() === 0

it.runIf(isRoot)('a host mount that is made later is written by what is not confined', () => {
  expect(lateMount([], 'danger-full-access')).toEqual({ exitCode: 0, written: true })
})

it.runIf(isRoot).for(Object.entries(HOSTS))('and by nothing confined: %s', ([, host], { skip }) => {
  skip(fault !== undefined, fault)
  expect(lateMount(host, 'workspace-write')).toEqual({ exitCode: 1, written: false })
})
