/**
 * A host that mounts something after a command has started. Run in a mount namespace of its own whose mounts may be
 * changed: prints one JSON object with what the command found and what came to be in the mount.
 */

import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { createSandboxedBash } from 'dsh-bash-sandbox'
import { isSandboxMode } from 'dsh-sandbox'

const [mode = ''] = process.argv.slice(2)
if (!isSandboxMode(mode)) throw new TypeError(`no mode: ${mode}`)

const scratch = mkdtempSync('/var/tmp/dsh-late-mount-')
const at = (name: string) => join(scratch, name)
for (const name of ['ws', 'mount']) mkdirSync(at(name))
// As systemd sets up every host; a container's mounts are private, and nothing would arrive anywhere.
execFileSync('mount', ['--make-rshared', '/'])

const bash = await createSandboxedBash({ mode, backend: 'bwrap', workspaceRoot: at('ws') })
try {
  const script = 'echo up; until [ -e go ]; do sleep 0.02; done; echo x > ../mount/late'
  const command = bash.start(bash.resolve({ command: script }))
  while (!command.readOutput().delta.includes('up')) await wait(10)
  execFileSync('mount', ['-t', 'tmpfs', 'late', at('mount')])
  writeFileSync(at('ws/go'), '')
  await command.done
  console.log(JSON.stringify({ exitCode: command.exitCode, written: existsSync(at('mount/late')) }))
} finally {
  await bash.dispose()
  execFileSync('umount', [at('mount')])
  rmSync(scratch, { recursive: true })
}
