import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { once } from 'node:events'
import { join } from 'node:path'
// oxlint-disable-next-line no-restricted-imports -- a test runs the hostile command itself
import { execa } from 'execa'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { makePrivateState, removePrivateState } from './private-state.ts'
import { removeTree, removeTreeSync } from './remove-tree.ts'
import { createSessionTemps } from './session-temps.ts'
import { skipWithout } from './testing/needs.ts'

let scratch: string
/** Nobody: the harness of an ordinary user meets modes that root does not even see. */
const ORDINARY_ID = 65_534

beforeEach(() => {
  scratch = realpathSync(mkdtempSync('/var/tmp/dsh-test-temps-'))
})
afterEach(() => rmSync(scratch, { recursive: true, force: true }))

const modeOf = (path: string) => statSync(path).mode & 0o7777

describe('a session temp', () => {
  it('is 0700, persists, and is its own for each session', () => {
    const temps = createSessionTemps(scratch)
    const one = temps.pathOf('one')
    expect(modeOf(one)).toBe(0o700)
    writeFileSync(join(one, 'kept'), 'x')
    expect(temps.pathOf('one')).toBe(one)
    expect(readFileSync(join(one, 'kept'), 'utf8')).toBe('x')
    expect(new Set([one, temps.pathOf('two'), temps.pathOf(undefined)]).size).toBe(3)
  })

  it('is never named after its session, whatever that is called', () => {
    const temps = createSessionTemps(scratch)
    for (const id of ['..', '../../etc', '/etc', 'a/b', '\0', '__proto__']) {
      expect(temps.pathOf(id)).toMatch(new RegExp(`^${scratch}/sessions/tmp-\\w{6}$`))
    }
  })

  it('is made again when it was removed, or has become a link or a file', () => {
    const temps = createSessionTemps(scratch)
    const first = temps.pathOf('one')
    rmSync(first, { recursive: true })
    const second = temps.pathOf('one')
    expect(statSync(second).isDirectory()).toBe(true)

    rmSync(second, { recursive: true })
    symlinkSync('/', second)
    const third = temps.pathOf('one')
    expect(realpathSync(third)).toBe(third)

    rmSync(third, { recursive: true })
    writeFileSync(third, '')
    expect(statSync(temps.pathOf('one')).isDirectory()).toBe(true)
  })

  it('is made again when all session temps were removed', () => {
    const temps = createSessionTemps(scratch)
    temps.pathOf('one')
    rmSync(join(scratch, 'sessions'), { recursive: true })
    expect(modeOf(temps.pathOf('one'))).toBe(0o700)
  })

  it.each([0o000, 0o777, 0o1777, 0o500])('is 0700 again after a command set it to %o', (mode) => {
    const temps = createSessionTemps(scratch)
    chmodSync(temps.pathOf('one'), mode)
    expect(modeOf(temps.pathOf('one'))).toBe(0o700)
  })

  it('ends alone', async () => {
    const temps = createSessionTemps(scratch)
    const one = temps.pathOf('one')
    const two = temps.pathOf('two')
    await temps.end('one')
    await temps.end('one')
    await temps.end('never heard of')
    expect([existsSync(one), existsSync(two)]).toEqual([false, true])
    expect(temps.pathOf('one')).not.toBe(one)
  })
})

/** Swaps directories and links to its argument as fast as it can, and says when it begins. */
const SWAP = `
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>
static char path[4][32];
static char *name(int slot, const char *format, int a, int b) { snprintf(path[slot], 32, format, a, b); return path[slot]; }
int main(int argc, char **argv) {
  for (int i = 0; i < 200; i++) {
    mkdir(name(0, "d%d", i, 0), 0700);
    for (int k = 0; k < 20; k++) close(open(name(1, "d%d/f%d", i, k), O_CREAT | O_WRONLY, 0600));
    symlink(argv[1], name(2, "l%d", i, 0));
  }
  write(1, "x", 1);
  for (;;) for (int i = 0; i < 200; i++) renameat2(AT_FDCWD, name(0, "d%d", i, 0), AT_FDCWD, name(2, "l%d", i, 0), RENAME_EXCHANGE);
}`

/** What a hostile command leaves: directories nobody may enter, a deep tree, odd names, links to the outside. */
function plantHostile(root: string, outside: string): void {
  let deep = join(root, 'deep')
  mkdirSync(deep)
  for (let level = 0; level < 300; level += 1) {
    deep = join(deep, 'd')
    mkdirSync(deep)
  }
  symlinkSync(outside, join(root, 'link-to-directory'))
  symlinkSync(join(outside, 'victim'), join(root, 'link-to-file'))
  symlinkSync('link-to-itself', join(root, 'link-to-itself'))
  writeFileSync(join(root, '-rf *\n'), '')
  for (const mode of [0o000, 0o100, 0o500]) {
    const closed = join(root, `closed-${mode.toString(8)}`)
    mkdirSync(join(closed, 'within'), { recursive: true })
    symlinkSync(outside, join(closed, 'within', 'link'))
    chmodSync(join(closed, 'within'), 0o000)
    chmodSync(closed, mode)
  }
}

/** Runs `act` as an ordinary user; back to what we were after it. Process-wide, so nothing else may run meanwhile. */
async function asOrdinaryUser(act: () => Promise<void> | void): Promise<void> {
  if (process.getuid?.() !== 0) return act()
  process.setegid?.(ORDINARY_ID)
  process.seteuid?.(ORDINARY_ID)
  try {
    await act()
  } finally {
    process.seteuid?.(0)
    process.setegid?.(0)
  }
}

describe('removal of what a command left', () => {
  it.each([
    ['waiting', removeTree],
    ['at exit', async (path: string) => removeTreeSync(path)],
  ])(
    'takes everything but what links point to (%s), as this user and as an ordinary one',
    async (_, remove) => {
      chmodSync(scratch, 0o777)
      const round = async () => {
        const outside = mkdtempSync(join(scratch, 'outside-'))
        writeFileSync(join(outside, 'victim'), 'kept')
        chmodSync(join(outside, 'victim'), 0o640)
        chmodSync(outside, 0o750)
        const root = mkdtempSync(join(scratch, 'root-'))
        plantHostile(root, outside)
        await remove(root)
        expect(existsSync(root)).toBe(false)
        expect(readdirSync(outside)).toEqual(['victim'])
        expect([modeOf(outside), modeOf(join(outside, 'victim'))]).toEqual([0o750, 0o640])
      }
      await round()
      await asOrdinaryUser(round)
    },
  )

  it('of a tree deeper than a path may be long', async () => {
    for (const remove of [removeTree, removeTreeSync]) {
      const root = mkdtempSync(join(scratch, 'root-'))
      const dig =
        'for i in {1..40}; do mkdir -p $(printf d%.0s {1..200}) && cd -P $(printf d%.0s {1..200}) || exit; done'
      await execa('bash', ['-c', dig], { cwd: root, env: { PWD: '' } })
      await remove(root)
      expect(existsSync(root)).toBe(false)
    }
  })

  it('while the command swaps directories for links to the outside takes nothing there', async ({ skip }) => {
    skipWithout(skip, 'a C compiler')
    const outside = mkdtempSync(join(scratch, 'outside-'))
    for (let count = 0; count < 200; count += 1) writeFileSync(join(outside, `victim${count}`), '')
    const root = mkdtempSync(join(scratch, 'root-'))
    await execa('gcc', ['-O1', '-x', 'c', '-', '-o', join(scratch, 'swap')], { input: SWAP })
    const swapper = execa(join(scratch, 'swap'), [outside], {
      cwd: root,
      stdin: 'ignore',
      reject: false,
      buffer: false,
    })
    await once(swapper.stdout, 'data')
    // What was made or swapped meanwhile may be left, which is an error of this removal and none of the outside.
    await removeTree(root).catch(() => {})
    swapper.kill('SIGKILL')
    await swapper
    expect(readdirSync(outside)).toHaveLength(200)
    await removeTree(root)
  })

  it('a root that is itself a link loses the link only', async () => {
    const outside = mkdtempSync(join(scratch, 'outside-'))
    writeFileSync(join(outside, 'victim'), 'kept')
    for (const remove of [removeTree, removeTreeSync]) {
      symlinkSync(outside, join(scratch, 'root'))
      await remove(join(scratch, 'root'))
      expect(readdirSync(outside)).toEqual(['victim'])
      expect(existsSync(join(scratch, 'root'))).toBe(false)
    }
  })

  it('of what is not there is no error', async () => {
    await removeTree(join(scratch, 'missing'))
    removeTreeSync(join(scratch, 'missing'))
  })
})

describe('private state', () => {
  it('is 0700, canonical, and removed with all that lies in it', async () => {
    mkdirSync(join(scratch, 'real'))
    symlinkSync('real', join(scratch, 'link'))
    const path = makePrivateState(join(scratch, 'link'))
    expect(path).toMatch(new RegExp(`^${scratch}/real/dsh-sandbox-\\w{6}$`))
    expect(modeOf(path)).toBe(0o700)
    plantHostile(path, scratch)
    await removePrivateState(path)
    expect(readdirSync(join(scratch, 'real'))).toEqual([])
  })

  it('is not made where everyone may rename it away, unless entries are protected', async () => {
    chmodSync(scratch, 0o777)
    expect(() => makePrivateState(scratch)).toThrow(
      `${scratch} can be changed by every user and is not sticky`,
    )
    chmodSync(scratch, 0o1777)
    await removePrivateState(makePrivateState(scratch))
    expect(readdirSync(scratch)).toEqual([])
  })

  it('fails with the errno of its place', () => {
    expect(() => makePrivateState(join(scratch, 'missing'))).toThrow(/^ENOENT/)
    writeFileSync(join(scratch, 'file'), '')
    expect(() => makePrivateState(join(scratch, 'file'))).toThrow(/^ENOTDIR/)
  })
})
