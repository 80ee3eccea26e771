// The way to a hub for requests of somebody else, passed on as they are: its admin socket, or its admin port with the token that svc
// holds. docs/protocol.md LOC.

import { Agent as HttpAgent, type ClientRequest, request as httpRequest } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { openSocketPath } from '../../platform/unix-socket.ts'
import type { AdminOperations } from '../../protocol/admin/operations.ts'
import type { AdminRole } from '../../protocol/admin/roles.ts'
import { connectionOf } from './hub-connection.ts'
import type { RemoteHub } from './hub-options.ts'
import { openRemoteHub } from './remote-hub.ts'
import { connectToHub } from './socket-client.ts'

export interface LineRequest {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** It hears `timeout` when nothing came for so long. */
  readonly timeout?: number
}

/** For whom the hub takes the caller. */
export interface LineHolder {
  readonly name: string
  readonly role: AdminRole
  /** The selector of the hosts that the token is for; null for all. */
  readonly only: string | null
}

export interface HubLine {
  /** Where it leads: an origin, or the path of a socket. */
  readonly hub: string
  readonly operations: AdminOperations
  /** The caller ends the request, and reads the answer. */
  begin(request: LineRequest): ClientRequest
  /** Asks the hub, and throws where it does not let us in. */
  findHolder(): Promise<LineHolder>
  close(): void
}

/** More at once wait for one of them to end; a stream of changes takes one for itself. */
const CONNECTIONS_MAX = 24

export function openPortLine(hub: RemoteHub): HubLine {
  const agent = new HttpsAgent({ keepAlive: true, maxSockets: CONNECTIONS_MAX })
  const { operations } = openRemoteHub(hub)
  const begin = ({ headers, ...request }: LineRequest): ClientRequest =>
    httpsRequest({
      ...request,
      agent,
      ...connectionOf(hub),
      headers: { ...headers, authorization: `Bearer ${hub.token.reveal()}` },
    })
  return {
    hub: hub.url.origin,
    operations,
    begin,
    findHolder: async () => {
      const { name, role, only } = await operations.showOwnToken({})
      return { name, role, only }
    },
    close: () => agent.destroy(),
  }
}

/** Undefined where no hub answers. */
export async function openSocketLine(socketPath: string): Promise<HubLine | undefined> {
  const session = await connectToHub(socketPath)
  if (session === undefined) return undefined
  const address = openSocketPath(socketPath)
  const agent = new HttpAgent({ keepAlive: true, maxSockets: CONNECTIONS_MAX })
  return {
    hub: socketPath,
    operations: session.operations,
    begin: (request) => httpRequest({ ...request, agent, socketPath: address.path }),
    // Who may open the socket may do everything.
    findHolder: () => Promise.resolve({ name: 'admin', role: 'admin', only: null }),
    close: () => {
      agent.destroy()
      address.release()
    },
  }
}
