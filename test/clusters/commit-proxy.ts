// Between hubs and servers that speak in the clear: passes on what it gets, and cuts connections around a COMMIT when it is told to.

import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import type { Random } from '../simulation/seeded-random.ts'

/** Before the server has it, when it has it, and without a word for longer than a hub waits. */
const MOMENTS = ['before', 'after', 'silent'] as const
const SILENCE_MS = 4000
const COMMIT = 'COMMIT'

export interface CommitProxy extends AsyncDisposable {
  /** One for each of the servers. */
  readonly ports: readonly number[]
  /** From now on this share of them; 0 for none. */
  cutShare: number
  readonly cuts: number
}

interface Cutting {
  cutShare: number
  cuts: number
}

export async function startCommitProxy(
  addresses: readonly string[],
  random: Random,
): Promise<CommitProxy> {
  const cutting: Cutting = { cutShare: 0, cuts: 0 }
  const sockets = new Set<Socket>()
  const servers: Server[] = []
  for (const address of addresses) {
    const server = createServer((client) => {
      const upstream = connect(5432, address)
      for (const socket of [client, upstream]) {
        sockets.add(socket)
        socket.once('close', () => sockets.delete(socket))
        // Whatever ends one side ends the other.
        socket.on('error', () => undefined)
      }
      join(client, upstream, cutting, random)
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    servers.push(server)
  }
  return {
    // A server that listens on TCP has an address object.
    ports: servers.map((server) => (server.address() as AddressInfo).port),
    get cutShare() {
      return cutting.cutShare
    },
    set cutShare(share) {
      cutting.cutShare = share
    },
    get cuts() {
      return cutting.cuts
    },
    [Symbol.asyncDispose]: async () => {
      for (const socket of sockets) socket.destroy()
      for (const server of servers) {
        server.close()
        await once(server, 'close')
      }
    },
  }
}

function join(client: Socket, upstream: Socket, cutting: Cutting, random: Random): void {
  let isSilent = false
  const end = (): void => {
    client.resetAndDestroy()
    upstream.destroy()
  }
  client.on('data', (chunk) => {
    if (!chunk.includes(COMMIT) || random() >= cutting.cutShare) {
      upstream.write(chunk)
      return
    }
    cutting.cuts += 1
    const moment = MOMENTS[Math.floor(random() * MOMENTS.length)]
    if (moment === 'before') {
      end()
      return
    }
    isSilent = true
    upstream.write(chunk)
    if (moment === 'silent') setTimeout(end, SILENCE_MS).unref()
    // What the server answers is its sign that it has read it.
    else upstream.once('data', end)
  })
  upstream.on('data', (chunk) => {
    if (!isSilent) client.write(chunk)
  })
  client.once('close', () => upstream.destroy())
  upstream.once('close', () => client.destroy())
}
