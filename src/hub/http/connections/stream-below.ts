import type { Duplex } from 'node:stream'
import type { TLSSocket } from 'node:tls'

/**
 * The stream of ours on which TLS was begun; undefined on a TCP socket, and of a client that hung up. Node says it by no
 * documented name. What is asked here must fail closed when a later Node says it no more.
 */
export function streamBelow(socket: TLSSocket): Duplex | undefined {
  return (socket as TLSSocket & { readonly _handle?: StreamHandle | null })._handle?._parentWrap
    ?.stream
}

interface StreamHandle {
  readonly _parentWrap?: { readonly stream?: Duplex }
}
