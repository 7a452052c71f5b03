import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const MODULE = fileURLToPath(new URL('../dist/debugger-signal.js', import.meta.url))

/** What a Node process says when it gets SIGUSR1 after `script`; it ends at the next TERM or when a debugger listens. */
async function wordsAtSignal(script: string): Promise<string> {
  const child = spawn(process.execPath, [
    '--input-type=module',
    '-e',
    `${script}; setInterval(() => {}, 1000); console.log('up')`,
  ])
  let words = ''
  child.stderr.on('data', (chunk) => (words += chunk))
  await once(child.stdout, 'data')
  child.kill('SIGUSR1')
  // Handled or not, the signal comes before the one that is sent after it has been seen to be delivered.
  await Promise.race([once(child.stderr, 'data'), new Promise((resolve) => setTimeout(resolve, 500))])
  child.kill('SIGTERM')
  await once(child, 'exit')
  return words
}

it('SIGUSR1 opens a debugger in a Node process, and none where it is held', async () => {
  expect(await wordsAtSignal('')).toContain('Debugger listening on')
  const held = `const { holdDebuggerSignal } = await import(${JSON.stringify(MODULE)}); holdDebuggerSignal()`
  expect(await wordsAtSignal(held)).toBe('')
})

it('two holders take one listener, and the last to let go removes it', async () => {
  const { holdDebuggerSignal } = await import('./debugger-signal.ts')
  const before = process.listenerCount('SIGUSR1')
  const [one, two] = [holdDebuggerSignal(), holdDebuggerSignal()]
  expect(process.listenerCount('SIGUSR1')).toBe(before + 1)
  one()
  one()
  expect(process.listenerCount('SIGUSR1')).toBe(before + 1)
  two()
  expect(process.listenerCount('SIGUSR1')).toBe(before)
})
