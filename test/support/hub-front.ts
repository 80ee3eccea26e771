// The name of a hub: addresses that lead to the machine that somebody chose last.

import { connect, createServer, type Server, type Socket } from 'node:net'
import type { AddressInfo } from 'node:net'
import type { HubPorts } from './hub.ts'

export interface HubFront extends AsyncDisposable {
  readonly ports: HubPorts
  /** Ends all connections; undefined leads nowhere. */
  leadTo(ports: Pick<HubPorts, 'enroll' | 'mtls'> | undefined): void
}

export async function openHubFront(): Promise<HubFront> {
  let target: Pick<HubPorts, 'enroll' | 'mtls'> | undefined
  const sockets = new Set<Socket>()
  const open = async (port: 'enroll' | 'mtls'): Promise<Server> => {
    const server = createServer((client) => {
      if (target === undefined) return client.destroy()
      const hub = connect(target[port], '127.0.0.1')
      for (const [one, other] of [
        [client, hub],
        [hub, client],
      ] as const) {
        sockets.add(one)
        one.on('error', () => other.destroy())
        one.on('close', () => {
          sockets.delete(one)
          other.destroy()
        })
        one.pipe(other)
      }
      return undefined
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return server
  }
  const [enroll, mtls] = [await open('enroll'), await open('mtls')]
  const cut = (): void => {
    for (const socket of sockets) socket.destroy()
  }
  const portOf = (server: Server): number => (server.address() as AddressInfo).port
  return {
    ports: { health: 0, enroll: portOf(enroll), mtls: portOf(mtls) },
    leadTo: (ports) => {
      target = ports
      cut()
    },
    [Symbol.asyncDispose]: async () => {
      for (const server of [enroll, mtls]) server.close()
      cut()
    },
  }
}
