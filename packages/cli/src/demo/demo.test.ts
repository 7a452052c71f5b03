/** The demo as a real process. Needs what `npm run build` makes. */

import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'

const DEMO = fileURLToPath(new URL('../../bin/demo.js', import.meta.url))
const DOCTOR = fileURLToPath(new URL('../../bin/dsh-sandbox.js', import.meta.url))

it('shows every usable backend and exits 0, or says what to do when there is none', () => {
  const { backends } = JSON.parse(
    spawnSync(process.execPath, [DOCTOR, 'doctor', '--json'], { encoding: 'utf8' }).stdout,
  )
  const usable = backends.filter((report: { usable: boolean }) => report.usable).length
  const { status, stdout, stderr } = spawnSync(process.execPath, [DEMO], { encoding: 'utf8' })
  const lines = stdout.trimEnd().split('\n')
  if (usable > 0) {
    // Four commands in the open, and for each backend in two modes.
    expect(lines).toContain(`${4 + usable * 8} commands, all as promised.`)
    expect(lines.slice(-3)).toStrictEqual([
      "Try it:       npx dsh-sandbox run -c 'touch /etc/x'",
      'In a config:  - { id: sandbox, name: dsh-sandbox-local }',
      '              - { id: bash, name: dsh-bash-sandbox, config: { mode: workspace-write } }',
    ])
  } else {
    expect(lines.at(-1)).toBe(
      'No backend works here, so nothing can be shown: install bubblewrap, or run a kernel that enforces Landlock.',
    )
  }
  expect([status, stderr]).toStrictEqual([usable > 0 ? 0 : 1, ''])
})
