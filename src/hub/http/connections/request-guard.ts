// What stands before Fastify: a request that should not be there, or whose turn has not come, costs next to nothing.

import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { cutPipelining } from '../../../platform/cut-pipelining.ts'
import { invariant } from '../../../platform/errors.ts'
import { boundPieces } from './bound-body.ts'
import { forgiveHandshake } from './handshake-charges.ts'
import type { StrangerTurns, TurnAccount, TurnOutcome } from './stranger-turns.ts'
import { clientAddressOf, type IsTrustedProxy } from './trusted-proxies.ts'

export interface RequestGuardOptions {
  /** Where strangers ask, each of their requests waits for one. */
  readonly turns?: StrangerTurns
  readonly isTrustedProxy: IsTrustedProxy
  /** Called with every request that is not cut, as soon as it is there. */
  readonly onRequest: RequestListener
  /** Answers a request for which there is no place to wait. */
  readonly refuse: (request: IncomingMessage, response: ServerResponse, address: string) => void
  readonly onCut: (socket: Socket) => void
}

export interface GuardedRequests {
  /**
   * Another turn, for what a body costs that was not there yet in the request's own turn. Undefined where callers do not
   * wait, or when the body was there.
   */
  awaitLateTurn(request: IncomingMessage): Promise<TurnOutcome> | undefined
}

/** Comes before the listener that the server has. docs/protocol.md SRF-24, LIM-24, LIM-26. */
export function guardRequests(server: Server, options: RequestGuardOptions): GuardedRequests {
  const { turns, isTrustedProxy, onRequest, refuse, onCut } = options
  const [handle] = server.listeners('request') as RequestListener[]
  invariant(handle, 'the server has something to do with requests')
  server.removeListener('request', handle)
  /** Requests whose body was not there in their turn. */
  const late = new WeakMap<IncomingMessage, () => Promise<TurnOutcome>>()
  const beginInTurn = async (
    theirs: StrangerTurns,
    request: IncomingMessage,
    response: Parameters<RequestListener>[1],
  ): Promise<void> => {
    const address = clientAddressOf(request, isTrustedProxy)
    const account: TurnAccount = { costMs: 0 }
    const outcome = await theirs.take(address, account)
    // A client that has gone meanwhile wants nothing any more.
    if (request.socket.destroyed) return undefined
    if (outcome === 'full') return refuse(request, response, address)
    forgiving.set(request, () => {
      theirs.forgive(address, account)
      forgiveHandshake(theirs, request.socket)
    })
    if (!request.complete) late.set(request, () => theirs.take(address, account))
    return handle(request, response)
  }
  const listener = cutPipelining((request, response) => {
    onRequest(request, response)
    boundPieces(request)
    if (turns === undefined) handle(request, response)
    else void beginInTurn(turns, request, response)
  }, onCut)
  server.on('request', listener)
  return { awaitLateTurn: (request) => late.get(request)?.() }
}

const forgiving = new WeakMap<IncomingMessage, () => void>()

/** The address of a request that succeeded owes neither for its turns nor for its handshake. docs/protocol.md LIM-25, LIM-50. */
export function forgiveTurns(request: IncomingMessage): void {
  forgiving.get(request)?.()
}
