// What stands before Fastify: a request that should not be there, or whose turn has not come, costs next to nothing.

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { cutPipelining } from '../../platform/cut-pipelining.ts'
import { invariant } from '../../platform/errors.ts'
import type { StrangerTurns } from './stranger-turns.ts'
import { clientAddressOf, type IsTrustedProxy } from './trusted-proxies.ts'

export interface RequestGuardOptions {
  /** Where strangers ask, each of their requests waits for one. */
  readonly turns?: StrangerTurns
  readonly isTrustedProxy: IsTrustedProxy
  /** Called with every request that is not cut, as soon as it is there. */
  readonly onRequest: (socket: Socket) => void
  /** Answers a request for which there is no place to wait. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, address: string) => void
  readonly onCut: (socket: Socket) => void
}

/** Comes before the listener that the server has. docs/protocol.md SRF-24, LIM-24, LIM-26. */
export function guardRequests(server: Server, options: RequestGuardOptions): void {
  const [handle] = server.listeners('request') as RequestListener[]
  invariant(handle, 'the server has something to do with requests')
  server.removeListener('request', handle)
  const { turns, onRequest, onCut } = options
  const listen: RequestListener = (request, response) => {
    onRequest(request.socket)
    if (turns === undefined) handle(request, response)
    else void awaitTurn(turns, handle, options, request, response)
  }
  server.on('request', cutPipelining(listen, onCut))
}

async function awaitTurn(
  turns: StrangerTurns,
  handle: RequestListener,
  { isTrustedProxy, refuse }: RequestGuardOptions,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const address = clientAddressOf(request, isTrustedProxy)
  const outcome = await turns.take(address)
  // Whoever has gone meanwhile wants nothing any more.
  if (request.socket.destroyed) return
  if (outcome === 'full') refuse(request, response, address)
  else handle(request, response)
}
