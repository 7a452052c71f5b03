import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { childEnv } from './environment.ts'
import { bashArgv } from './script.ts'
import { scratchFolder, scratchRunner } from './testing/scratch.ts'

/** A harness that no shell has started, as a service is: without SHLVL. */
const asService = (home: string) => ({ PATH: process.env['PATH'] ?? '', HOME: home })

it('a command with input reads no start-up file, though its stdin is a socket', async () => {
  const home = await scratchFolder()
  writeFileSync(join(home, '.bashrc'), 'echo from bashrc\n')
  const plain = spawn('bash', ['-c', 'echo ran'], {
    env: asService(home),
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  plain.stdin.end()
  const [words] = await Promise.all([text(plain.stdout), once(plain, 'exit')])
  expect(words).toBe('from bashrc\nran\n')

  const runner = scratchRunner()
  const spec = runner.resolve({ command: 'echo ran', stdin: '' })
  const ended = await runner.run({ argv: bashArgv(spec.command), env: childEnv(spec, asService(home)), spec })
  expect(ended.stdout.text).toBe('ran\n')
})

it('the level of a shell that is there is kept', () => {
  expect(childEnv({}, { SHLVL: '3' })['SHLVL']).toBe('3')
  expect(childEnv({}, { SHLVL: '0' })['SHLVL']).toBe('1')
  expect(childEnv({ env: { SHLVL: '0' } }, {})['SHLVL']).toBe('0')
})
