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
}

export interface WebhookReply {
  readonly status: number
  readonly retryAfter: string | undefined
}

export interface WebhookConnection {
  /** Throws when there is no answer. What the answer says besides its status is dropped. */
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
    post: async ({ headers, body, signal }) => {
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
      // The status has been said; whether the rest arrives changes nothing.
      await reply.body.dump({ limit: REPLY_BYTES_MAX, signal }).catch(() => undefined)
      const retryAfter = reply.headers['retry-after']
      return {
        status: reply.statusCode,
        retryAfter: typeof retryAfter === 'string' ? retryAfter : undefined,
      }
    },
    // Not close(), which would wait for a receiver that does not answer.
    close: async () => (await agent)?.destroy(),
  }
}

/** An address that stands in the URL itself is looked up nowhere. */
function requireAllowedAddress(url: URL): void {
  const address = addressIn(url)
  if (address === undefined || isAllowedAddress(address, url.protocol)) return
  throw new SvcError('address_refused', `the hub does not send to ${address}`)
}
