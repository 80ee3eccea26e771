// How the hub asks an OpenID provider, in the form that openid-client takes: bounded as get-text.ts, and no redirects.

import type { CustomFetch } from 'openid-client'
import { describeError, SvcError } from '../../platform/errors.ts'
import { type AgentFor, OUTSIDE_TIMEOUT_MS, readText } from './outside-agents.ts'

/** That the provider is away: who asks again later may be answered. */
export class ProviderAway extends SvcError {
  override name = 'ProviderAway'
  constructor(message: string, cause?: unknown) {
    super('provider_away', message, cause === undefined ? {} : { cause })
  }
}

/** Each request ends with the signal at the latest. */
export function createProviderFetch(
  agentFor: AgentFor,
  version: string,
  deadline: AbortSignal,
): CustomFetch {
  return async (href, { method, headers, body }) => {
    const url = new URL(href)
    const agent = await agentFor(url)
    const signal = AbortSignal.any([deadline, AbortSignal.timeout(OUTSIDE_TIMEOUT_MS)])
    try {
      const reply = await agent.request({
        origin: url.origin,
        path: url.pathname + url.search,
        method: method === 'POST' ? 'POST' : 'GET',
        headers: { ...headers, 'user-agent': `svc-server/${version}` },
        body: body === null || body === undefined ? null : String(body as URLSearchParams | string),
        signal,
      })
      const { statusCode: status } = reply
      if (status >= 500 || status === 429) {
        await reply.body.dump({ limit: 1024, signal }).catch(() => undefined)
        throw new ProviderAway(`${url.host} answered ${status}`)
      }
      const text = await readText(reply.body, url)
      return new Response(status === 204 || status === 304 ? null : text, {
        status,
        headers: { 'content-type': oneOf(reply.headers['content-type']) },
      })
    } catch (error) {
      if (error instanceof SvcError) throw error
      const why = signal.aborted ? 'did not answer in time' : describeError(error)
      throw new ProviderAway(`${url.host}: ${why}`, error)
    }
  }
}

function oneOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? ''
}
