// One receiver, over HTTPS: bounded in time and size, no redirects, addresses as they were checked.

import type { Agent } from 'undici'
import { SvcError } from '../../platform/errors.ts'
import { isAllowedAddress } from '../domain/webhook-addresses.ts'
import { addressIn } from '../domain/webhook-url.ts'
import type { AddressLookup } from '../outbound/address-lookup.ts'

export interface WebhookRequest {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly signal: AbortSignal
  /** Whether the caller reads what the answer says besides its status. */
  readonly readsReply?: boolean
}

export interface WebhookReply {
  readonly status: number
  /** Where the caller reads it, and it is within its bound. */
  readonly body?: string | undefined
  readonly retryAfter: string | undefined
}

export interface WebhookConnection {
  /** Throws when there is no answer. */
  post(request: WebhookRequest): Promise<WebhookReply>
  close(): Promise<void>
}

export interface WebhookConnectionOptions {
  readonly url: URL
  readonly rootsPem: readonly string[]
  readonly lookup: AddressLookup
}

const CONNECT_TIMEOUT_MS = 10_000
const REPLY_BYTES_MAX = 16 * 1024
const KEEP_ALIVE_MS_MAX = 60_000

export function openWebhookConnection(options: WebhookConnectionOptions): WebhookConnection {
  const { url, lookup } = options
  // The library takes several megabytes of a hub, and most hubs have nobody to tell.
  const open = async (): Promise<Agent> => {
    const { Agent: UndiciAgent } = await import('undici')
    return new UndiciAgent({
      connect: {
        ca: [...options.rootsPem],
        lookup: lookup.forProtocol(url.protocol),
        autoSelectFamily: true,
        timeout: CONNECT_TIMEOUT_MS,
      },
      connections: 1,
      allowH2: false,
      keepAliveMaxTimeout: KEEP_ALIVE_MS_MAX,
      // The caller's signal is the only clock.
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }
  let agent: Promise<Agent> | undefined
  return {
    post: async ({ headers, body, signal, readsReply = false }) => {
      requireAllowedAddress(url)
      agent ??= open()
      const opened = await agent
      const reply = await opened.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: 'POST',
        headers,
        body,
        signal,
      })
      const text = readsReply ? await readBounded(reply.body) : undefined
      // The status has been said; whether the rest arrives changes nothing.
      if (!readsReply) {
        await reply.body.dump({ limit: REPLY_BYTES_MAX, signal }).catch(() => undefined)
      }
      const retryAfter = reply.headers['retry-after']
      return {
        status: reply.statusCode,
        body: text,
        retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
      }
    },
    // Not close(), which would wait for a receiver that does not answer.
    close: async () => (await agent)?.destroy(),
  }
}

/** Undefined for what is longer than its bound. */
async function readBounded(body: AsyncIterable<Buffer>): Promise<string | undefined> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > REPLY_BYTES_MAX) return undefined
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** An address that stands in the URL itself is looked up nowhere. */
function requireAllowedAddress(url: URL): void {
  const address = addressIn(url)
  if (address === undefined || isAllowedAddress(address, url.protocol)) return
  throw new SvcError('address_refused', `the hub does not send to ${address}`)
}
