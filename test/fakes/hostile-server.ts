// An HTTPS server with a root of its own that answers whatever a test says, to whichever question.

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { createAuthority } from './ca-server.ts'

export interface HostileServer extends AsyncDisposable {
  readonly url: URL
  readonly rootPem: string
  /** Undefined says nothing, ever. */
  answer: ((request: IncomingMessage, response: ServerResponse) => void) | undefined
  readonly requests: () => number
}

export async function startHostileServer(): Promise<HostileServer> {
  const { rootPem, serverCertPem, serverKeyPem } = await createAuthority(3_600_000)
  let requests = 0
  const server = createServer({ cert: serverCertPem, key: serverKeyPem }, (request, response) => {
    requests += 1
    hostile.answer?.(request, response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  const hostile: HostileServer = {
    url: new URL(`https://127.0.0.1:${port}`),
    rootPem,
    answer: undefined,
    requests: () => requests,
    [Symbol.asyncDispose]: async () => {
      const closed = once(server, 'close')
      server.close()
      server.closeAllConnections()
      await closed
    },
  }
  return hostile
}
