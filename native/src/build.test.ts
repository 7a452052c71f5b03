/** What native/build.mjs leaves when a part cannot be built: in a copy of the sources, with the real compiler. */

import {
  appendFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { landlockAbi, run } from '../test/bench.ts'
import { skipWithout } from '../test/needs.ts'

const ROOT = join(import.meta.dirname, '..', '..')
const COST = 'landlock.node is missing, which no sandbox needs: the launcher is not affected'
let copy: string

beforeEach(({ skip }) => {
  skipWithout(skip, 'the launcher')
  copy = realpathSync(mkdtempSync('/var/tmp/dsh-build-'))
  mkdirSync(join(copy, 'native'))
  mkdirSync(join(copy, 'node_modules'))
  for (const name of [
    'package.json',
    'binding.gyp',
    'native/build.mjs',
    'native/toolchain.mjs',
    'native/src',
    'native/test',
  ]) {
    cpSync(join(ROOT, name), join(copy, name), { recursive: true })
  }
  link('node-gyp')
})
afterEach(() => {
  if (copy !== undefined) rmSync(copy, { recursive: true, force: true })
})

const link = (name: string) =>
  symlinkSync(realpathSync(join(ROOT, 'node_modules', name)), join(copy, 'node_modules', name))
const built = (name: string) => join(copy, 'build', 'Release', name)
const build = (word: string) =>
  run([process.execPath, join(copy, 'native', 'build.mjs')], { env: { DSH_NATIVE: word, HOME: copy } })

it('without node-addon-api the launcher is built, and works; the binding follows once it is there', () => {
  expect(build('')).toMatchObject({
    status: 0,
    stderr: `[native] binding not built: node-addon-api is not installed; ${COST}\n`,
  })
  expect(run([built('landlock-run'), '--probe']).stdout.startsWith(`landlock abi=${landlockAbi()} `)).toBe(
    true,
  )
  expect(existsSync(built('landlock.node'))).toBe(false)
  expect(build('required').status).toBe(1)
  link('node-addon-api')
  expect(build('required')).toMatchObject({ status: 0, stderr: '' })
  expect(existsSync(built('landlock.node'))).toBe(true)
})

it('a binding that does not compile costs nobody the launcher', () => {
  link('node-addon-api')
  appendFileSync(join(copy, 'native', 'src', 'binding.cc'), '#error no binding\n')
  expect(build('')).toMatchObject({
    status: 0,
    stderr: `[native] binding not built: node-gyp build ended with status 1, see build/binding.log; ${COST}\n`,
  })
  expect([existsSync(built('landlock-run')), existsSync(built('landlock.node'))]).toEqual([true, false])
  expect(build('required').status).toBe(1)
  expect(existsSync(built('landlock-run'))).toBe(true)
})
