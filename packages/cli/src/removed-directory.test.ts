/** A command may remove the very directory that the CLI was started in; its end is told all the same. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, it } from 'vitest'

const BIN = fileURLToPath(new URL('../bin/dsh-sandbox.js', import.meta.url))

let scratch = ''
beforeEach(() => (scratch = realpathSync(mkdtempSync('/var/tmp/dsh-cli-removed-'))))
afterEach(() => rmSync(scratch, { recursive: true }))

it('the exit status is the command’s, and nothing is said of what is gone', ({ skip }) => {
  const cwd = join(scratch, 'here')
  mkdirSync(cwd)
  const words = ['run', '--mode', 'workspace-write', '--workspace', scratch, '-c']
  const script = `rm -rf '${cwd}'; echo "$TMPDIR" >&2; exit 7`
  const { status, stdout, stderr } = spawnSync(process.execPath, [BIN, ...words, script], {
    cwd,
    encoding: 'utf8',
  })
  const refused = status === 125 && stderr.includes('no sandbox backend')
  skip(
    refused && process.env['DSH_REQUIRE_BACKENDS'] === undefined,
    'needs bwrap or landlock, which is not here',
  )
  expect(existsSync(cwd)).toBe(false)
  expect([status, stdout]).toEqual([7, ''])
  // One line, and it is the command's own: where its temp was, of which nothing is left under a name of its own.
  expect(stderr).toMatch(/^\/\S+\n$/)
  const temp = stderr.trimEnd()
  if (temp !== '/tmp') expect(existsSync(temp)).toBe(false)
})
