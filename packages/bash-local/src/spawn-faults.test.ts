/** The last descriptors go between the check and the spawn: here the check sees nothing. */

import { expect, it, vi } from 'vitest'
import { withSpareDescriptors } from './testing/descriptors.ts'
import { plain, scratchRunner } from './testing/scratch.ts'

vi.mock('./descriptors.ts', () => ({ shortageOf: () => undefined }))

it.each([0, 3, 5])('a spawn with only %d descriptors left fails alone', async (spare) => {
  const runner = scratchRunner()
  const command = plain(runner, 'echo ok')
  const [failure] = await withSpareDescriptors(spare, () => [
    runner.run(command).catch((error: unknown) => error),
  ])
  expect(failure).toMatchObject({ code: 'EMFILE', syscall: 'spawn bash' })
  expect(await runner.run(command)).toMatchObject({ exitCode: 0, stdout: { text: 'ok\n' } })
})
