import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { createSpillStore } from './spill.ts'
import { eventually, plain, scratchFolder, scratchRunner } from './testing/scratch.ts'

/** Prints 20 bytes, past the cap of 10; stdout alone spills. */
const OVERFLOW = 'printf 0123456789abcdefghij'

async function spillingRunner(config: { maxSpillBytes?: number } = {}) {
  const spillParent = await scratchFolder()
  const runner = scratchRunner({ maxOutputBytes: 10, spillParent, ...config })
  const spilled = async (command = OVERFLOW) => (await runner.run(plain(runner, command))).stdout
  return { runner, spillParent, spilled }
}

describe('the spill directory', () => {
  it('is not made before the first overflow', async () => {
    const { spillParent, spilled } = await spillingRunner()
    expect(await spilled('printf 0123456789')).toEqual({ text: '0123456789', truncated: false })
    expect(readdirSync(spillParent)).toEqual([])
  })

  it('is private, and one serves all commands', async () => {
    const { spillParent, spilled } = await spillingRunner()
    const outputs = await Promise.all([spilled(), spilled(), spilled()])
    expect(readdirSync(spillParent)).toHaveLength(1)
    const paths = outputs.map((output) => output.spillPath ?? '')
    expect(new Set(paths).size).toBe(3)
    expect(paths.map((path) => readFileSync(path, 'utf8'))).toEqual(Array(3).fill('0123456789abcdefghij'))
    expect(paths.map((path) => statSync(path).mode & 0o777)).toEqual([0o600, 0o600, 0o600])
    expect(statSync(dirname(paths[0] ?? '')).mode & 0o777).toBe(0o700)
  })

  it('stays until disposal, then is removed with all in it', async () => {
    const { runner, spillParent, spilled } = await spillingRunner()
    const { spillPath = '' } = await spilled()
    expect(existsSync(spillPath)).toBe(true)
    await runner.dispose()
    expect(readdirSync(spillParent)).toEqual([])
  })

  it.each([
    ['removed', (dir: string) => rmSync(dir, { recursive: true })],
    ['opened to others', (dir: string) => chmodSync(dir, 0o755)],
    ['replaced by a link', replaceByLink],
    ['replaced by a directory', replaceByDirectory],
  ])('is made anew for the next command when it was %s', async (_, spoil) => {
    const { spilled } = await spillingRunner()
    const first = dirname((await spilled()).spillPath ?? '')
    spoil(first)
    const second = (await spilled()).spillPath ?? ''
    expect(dirname(second)).not.toBe(first)
    expect(readFileSync(second, 'utf8')).toBe('0123456789abcdefghij')
  })

  it('is not removed at disposal when it is no longer ours', async () => {
    const { runner, spilled } = await spillingRunner()
    const dir = dirname((await spilled()).spillPath ?? '')
    replaceByLink(dir)
    await runner.dispose()
    expect(readdirSync(`${dir}-elsewhere`)).toHaveLength(1)
  })

  it('that cannot be made costs the path alone', async () => {
    const runner = scratchRunner({ maxOutputBytes: 10, spillParent: '/nonexistent' })
    const ended = await runner.run(plain(runner, OVERFLOW))
    expect(ended).toMatchObject({ exitCode: 0, stdout: { text: 'abcdefghij', truncated: true } })
    expect(ended.stdout).not.toHaveProperty('spillPath')
  })
})

/** The directory moves aside and a link to it takes its place, so that paths still lead to the files. */
function replaceByLink(dir: string): void {
  renameSync(dir, `${dir}-elsewhere`)
  symlinkSync(`${dir}-elsewhere`, dir)
}

function replaceByDirectory(dir: string): void {
  renameSync(dir, `${dir}-elsewhere`)
  mkdirSync(dir, { mode: 0o700 })
}

describe('a command that spoils the directory while it spills', () => {
  const fill = 'head -c 200000 /dev/zero'

  it.each([
    ['removes it', 'rm -rf "$PARENT"/dsh-spill-*'],
    ['replaces it by a link', 'cd "$PARENT" && set -- dsh-spill-* && mv "$1" moved && ln -s moved "$1"'],
    ['empties it', 'rm -f "$PARENT"/dsh-spill-*/*'],
  ])('%s: ends as it would, without a path', async (_, spoil) => {
    const { runner, spillParent } = await spillingRunner()
    const started = `until set -- "$PARENT"/dsh-spill-*/*; [ -s "$1" ]; do :; done`
    const command = `${fill}; ${started}; ${spoil}; ${fill}; printf 0123456789`
    const ended = await runner.run(plain(runner, { command, env: { PARENT: spillParent } }))
    expect(ended).toMatchObject({ exitCode: 0, stderr: { text: '' } })
    expect(ended.stdout).toEqual({ text: '0123456789', truncated: true })
    expect(await runner.run(plain(runner, OVERFLOW))).toMatchObject({
      stdout: { spillPath: expect.any(String) },
    })
  })
})

describe('the largest spill', () => {
  it.each([
    [20, true],
    [19, false],
  ])('of %d bytes: a file of 20 is kept: %s', async (maxSpillBytes, isKept) => {
    const { spillParent, spilled } = await spillingRunner({ maxSpillBytes })
    const output = await spilled()
    const left = readdirSync(spillParent, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    )
    expect(left).toHaveLength(isKept ? 1 : 0)
    expect(output).toMatchObject({ text: 'abcdefghij', truncated: true })
    expect('spillPath' in output).toBe(isKept)
  })
})

describe('a spill file', () => {
  it('names no path while a write is under way', async () => {
    const store = createSpillStore({ spillParent: await scratchFolder(), maxSpillBytes: 100 })
    const file = store.file()
    expect(file.path()).toBe(undefined)
    const writing = file.write(Buffer.from('one'))
    expect(file.path()).toBe(undefined)
    await writing
    expect(readFileSync(file.path() ?? '', 'utf8')).toBe('one')
    const closing = file.close()
    expect(file.path()).toBe(undefined)
    await closing
    expect(readFileSync(file.path() ?? '', 'utf8')).toBe('one')
    await store.remove()
    expect(file.path()).toBe(undefined)
  })

  it('that is given up during a write leaves nothing behind', async () => {
    const spillParent = await scratchFolder()
    const store = createSpillStore({ spillParent, maxSpillBytes: 100 })
    const file = store.file()
    const writing = file.write(Buffer.from('one'))
    await file.discard()
    await writing
    expect(file.path()).toBe(undefined)
    const [dir = ''] = readdirSync(spillParent)
    await eventually('an empty directory', () => readdirSync(join(spillParent, dir)).length === 0)
  })
})
