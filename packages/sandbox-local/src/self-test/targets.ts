/** Makes what the self-test acts on outside: processes, sockets, a device. All of it belongs to the test and ends with it. */

import { randomUUID } from 'node:crypto'
import { spawn, type ChildProcess } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { accessSync, constants, writeFileSync } from 'node:fs'
import { createServer, type AddressInfo, type Server } from 'node:net'
import { join } from 'node:path'
import { UNGRANTED_DEVICES, type Targets } from './acts.ts'

/**
 * Of this length a name is the same for every Node: some fill shorter ones with NUL bytes, which count (unix(7)). Seen: 20.20.
 */
const LONGEST_ABSTRACT_NAME = 107

export interface LiveTargets {
  /** With a victim of its own for each run, in a fresh directory. */
  forRun(folder: string): Promise<Targets>
  end(): Promise<void>
}

/** Starts what all runs share. `folder` gets the socket. */
export async function startTargets(folder: string): Promise<LiveTargets> {
  const processes: ChildProcess[] = []
  // It reads what nobody writes, so it is there until it is ended, or this process is, in whichever way.
  const waiter = async (): Promise<number> => {
    const child = spawn('/bin/cat', { stdio: ['pipe', 'ignore', 'ignore'] })
    processes.push(child)
    await once(child, 'spawn')
    if (child.pid === undefined) throw new Error('a started process has no number')
    return child.pid
  }
  const abstractSocket = `dsh-self-test-${randomUUID()}-`.padEnd(LONGEST_ABSTRACT_NAME, 'x')
  const [pathServer, abstractServer, tcpServer] = [listener(), listener(), listener()]
  // The folder may be too deep for the address of a socket.
  const socket = await listening(pathServer, { path: join(folder, 'sock') }).then(
    () => join(folder, 'sock'),
    () => undefined,
  )
  await Promise.all([
    listening(abstractServer, { path: `\0${abstractSocket}` }),
    listening(tcpServer, { host: '127.0.0.1', port: 0 }),
  ])
  const datagrams = createSocket('udp4')
  datagrams.bind(0, '127.0.0.1')
  await once(datagrams, 'listening')
  const neighbour = await waiter()
  return {
    forRun: async (own) => {
      const file = join(own, 'read')
      writeFileSync(file, 'old\n')
      return {
        victim: await waiter(),
        neighbour,
        file,
        socket,
        abstractSocket,
        // Both listen on an address and a port, so neither is a path or null.
        tcpPort: (tcpServer.address() as AddressInfo).port,
        udpPort: datagrams.address().port,
        device: UNGRANTED_DEVICES.find(isReadable),
      }
    },
    end: async () => {
      for (const child of processes) child.kill('SIGKILL')
      for (const server of [pathServer, abstractServer, tcpServer]) server.close()
      datagrams.close()
      await Promise.all(processes.map(ended))
    },
  }
}

function listener(): Server {
  return createServer((connection) => connection.on('error', () => {}).destroy())
}

async function listening(server: Server, where: { path: string } | { host: string; port: number }) {
  server.listen(where)
  await once(server, 'listening')
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK)
    return true
  } catch {
    // Not here, or not for this user.
    return false
  }
}
