// Stands before a Unix socket that somebody else serves, and notes all that passes, both ways.

import { rename, rm } from 'node:fs/promises'
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

export interface RecordingProxy extends AsyncDisposable {
  /** All bytes so far, one connection's after the other's. */
  recorded(): Buffer
}

/** Takes the socket's place; its server goes on under another name. */
export async function recordSocket(socketPath: string): Promise<RecordingProxy> {
  const behind = `${socketPath}.behind`
  await rename(socketPath, behind)
  const streams: Buffer[][] = []
  const note = (socket: Socket): void => {
    const chunks: Buffer[] = []
    streams.push(chunks)
    socket.on('data', (chunk) => chunks.push(chunk))
    // Whoever is at the other end learns of it by the end of its own connection.
    socket.on('error', () => undefined)
  }
  const server = createServer((client) => {
    const hub = connect(behind)
    note(client)
    note(hub)
    client.pipe(hub)
    hub.pipe(client)
  })
  server.listen(socketPath)
  await once(server, 'listening')
  return {
    recorded: () => Buffer.concat(streams.flat()),
    [Symbol.asyncDispose]: async () => {
      server.close()
      await rm(socketPath, { force: true })
    },
  }
}
