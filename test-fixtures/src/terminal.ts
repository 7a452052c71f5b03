/**
 * A terminal outside the sandbox that attacks aim at, as an editor or a shell of the same user has one: it is somebody's
 * controlling terminal, and `secret` has been typed and not yet read. Needs python3.
 */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'

export interface Terminal {
  /** `/dev/pts/N`. */
  readonly path: string
  /** What the terminal has been sent to show, and what is typed and unread. Reading it takes it away. */
  look(): Promise<TerminalScene>
  end(): Promise<void>
}

export interface TerminalScene {
  readonly shown: string
  readonly typed: string
}

/**
 * Raw, so that every byte passes as it is and nothing is echoed. Asked by a line, it writes a zero byte to the terminal
 * itself: all that came before it has then arrived.
 */
const HOLDER = `
import fcntl, json, os, select, sys, termios, tty
master, slave = os.openpty()
fcntl.ioctl(slave, termios.TIOCSCTTY, 0)
tty.setraw(slave)
settings = termios.tcgetattr(slave)
settings[6][termios.VMIN] = 0
termios.tcsetattr(slave, termios.TCSANOW, settings)
os.write(master, b'secret')
select.select([slave], [], [])
print(os.ttyname(slave), flush=True)
for line in sys.stdin:
    os.write(slave, bytes(1))
    shown = b''
    while not shown.endswith(bytes(1)): shown += os.read(master, 4096)
    print(json.dumps({'shown': shown[:-1].decode(), 'typed': os.read(slave, 4096).decode()}), flush=True)
`

export async function openTerminal(): Promise<Terminal> {
  // Only the leader of a session can be given a terminal that controls it (ioctl_tty(2), TIOCSCTTY).
  const child = spawn('/usr/bin/python3', ['-c', HOLDER], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true,
  })
  const exited = once(child, 'exit')
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next()
    if (done === true) throw new Error('the holder of the terminal has ended')
    return value
  }
  return {
    path: await next(),
    look: async () => {
      child.stdin.write('\n')
      // Our own program printed it.
      return JSON.parse(await next()) as TerminalScene
    },
    end: async () => {
      child.stdin.end()
      await exited
    },
  }
}
