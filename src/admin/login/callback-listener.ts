// The listener of a sign-in on this machine's loopback: it takes one callback, and answers everything else alike. docs/protocol.md OID-32.

import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { closeServer, listenOnLoopback } from '../terminal/listen-on-loopback.ts'
import { NOTHING_HERE, PAGE_HEADERS, renderPage, type Shown } from './callback-page.ts'
import { type Callback, judgeCallback } from './judge-callback.ts'

export interface CallbackListener {
  readonly port: number
  /** The first callback with that state; there is no second one. */
  waitFor(state: string): Promise<TakenCallback>
  close(): Promise<void>
}

export interface TakenCallback {
  readonly callback: Callback
  /** What the browser waits for; resolves when it is on its way, or the browser has gone. */
  readonly answer: (shown: Shown) => Promise<void>
}

/** A browser needs one or two; a stranger who holds the others open loses them after seconds. */
const CONNECTIONS_MAX = 32
const HEADER_BYTES_MAX = 20 * 1024
const HEADERS_MS_MAX = 5000
const REQUEST_MS_MAX = 10_000
const CHECK_MS = 1000

export async function openCallbackListener(port: number): Promise<CallbackListener> {
  let wanted: { state: string; take: (taken: TakenCallback) => void } | undefined
  const server = createServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: HEADERS_MS_MAX,
      requestTimeout: REQUEST_MS_MAX,
      connectionsCheckingInterval: CHECK_MS,
    },
    (request, response) => {
      request.resume()
      const { method, url: target, headers } = request
      const asked = { method, target, headers }
      const callback = wanted && judgeCallback(asked, { port: portOf(server), state: wanted.state })
      if (wanted === undefined || callback === undefined) {
        void send(response, NOTHING_HERE)
      } else {
        const { take } = wanted
        wanted = undefined
        take({ callback, answer: (shown) => send(response, shown) })
      }
    },
  )
  server.maxConnections = CONNECTIONS_MAX
  const ownPort = await listenOnLoopback(server, port)
  return {
    port: ownPort,
    waitFor: (state) =>
      new Promise((resolve) => {
        wanted = { state, take: resolve }
      }),
    close: () => closeServer(server),
  }
}

function portOf(server: { address(): unknown }): number {
  return (server.address() as AddressInfo).port
}

async function send(response: ServerResponse, shown: Shown): Promise<void> {
  if (response.destroyed) return
  const page = renderPage(shown)
  response.writeHead(shown.status, { ...PAGE_HEADERS, 'content-length': Buffer.byteLength(page) })
  const gone = once(response, 'close')
  response.end(page)
  await gone
}
