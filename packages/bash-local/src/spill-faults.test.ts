/** Every file operation of a spill fails once, at every place where it can. */

import { readdirSync, readFileSync } from 'node:fs'
import type * as FsPromises from 'node:fs/promises'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { plain, scratchFolder, scratchRunner } from './testing/scratch.ts'

/** Calls until the one that fails; below zero none does. */
const fault = vi.hoisted(() => ({ countdown: -1, code: 'ENOSPC', wasHit: false }))

vi.mock('node:fs/promises', async (importOriginal) => {
  const real = await importOriginal<typeof FsPromises>()
  const due = () => {
    fault.countdown -= 1
    if (fault.countdown !== -1) return
    fault.wasHit = true
    throw Object.assign(new Error(`${fault.code}: injected`), { code: fault.code })
  }
  return {
    ...real,
    mkdtemp: async (prefix: string) => (due(), real.mkdtemp(prefix)),
    lstat: async (path: string) => (due(), real.lstat(path)),
    unlink: async (path: string) => (due(), real.unlink(path)),
    open: async (path: string, flags: string, mode: number) => {
      due()
      const handle = await real.open(path, flags, mode)
      // All that a spill uses of a handle.
      return {
        // A full disk first takes a part: one byte at a time shows that the rest is written as well.
        write: async (bytes: Buffer, offset: number) => (due(), handle.write(bytes, offset, 1)),
        stat: async () => (due(), handle.stat()),
        // The descriptor is closed even when close(2) reports a late error.
        close: async () => (await handle.close(), due()),
      }
    },
  }
})

afterEach(() => {
  fault.countdown = -1
})

describe('a spill of 12 bytes', () => {
  const whole = '0123456789ab'

  it.each(['ENOSPC', 'EMFILE', 'EIO'])(
    'with %s at any step keeps the tail and drops the path',
    async (code) => {
      let steps = 0
      for (fault.wasHit = true; fault.wasHit; steps += 1) {
        const spillParent = await scratchFolder()
        const runner = scratchRunner({ maxOutputBytes: 10, spillParent })
        Object.assign(fault, { countdown: steps, code, wasHit: false })
        const { exitCode, stdout } = await runner.run(plain(runner, `printf ${whole}`))
        fault.countdown = -1
        expect({ exitCode, text: stdout.text }).toEqual({ exitCode: 0, text: '23456789ab' })
        const files = readdirSync(spillParent, { recursive: true, withFileTypes: true }).filter((file) =>
          file.isFile(),
        )
        if (fault.wasHit) expect([stdout.spillPath, files.length <= 1]).toEqual([undefined, true])
        else expect(readFileSync(stdout.spillPath ?? '', 'utf8')).toBe(whole)
        await runner.dispose()
        expect(readdirSync(spillParent).length === 0 || fault.wasHit).toBe(true)
      }
      // mkdtemp, lstat, open, stat, 12 writes, close: the run without a fault is the last.
      expect(steps).toBe(18)
    },
  )
})
