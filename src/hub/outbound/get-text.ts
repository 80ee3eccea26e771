// A document from somewhere else, by HTTPS: bounded in time and size, no redirects, addresses as they were checked.

import { SvcError } from '../../platform/errors.ts'
import type { AddressLookup } from './address-lookup.ts'
import { createOutsideAgents, OUTSIDE_TIMEOUT_MS, readText } from './outside-agents.ts'

/** Throws an SvcError that says why there is no document. */
export type GetText = (url: URL) => Promise<string>

export function createGetText(
  lookup: AddressLookup,
  roots: () => readonly string[],
  version: string,
): GetText {
  const agentFor = createOutsideAgents(lookup, roots)
  return async (url) => {
    const agent = await agentFor(url)
    const signal = AbortSignal.timeout(OUTSIDE_TIMEOUT_MS)
    const reply = await agent.request({
      origin: url.origin,
      path: url.pathname + url.search,
      method: 'GET',
      headers: { accept: 'application/json', 'user-agent': `svc-server/${version}` },
      signal,
    })
    if (reply.statusCode !== 200) {
      await reply.body.dump({ limit: 1024, signal }).catch(() => undefined)
      throw new SvcError('answer_refused', `${url.host} answered ${reply.statusCode}`)
    }
    return readText(reply.body, url)
  }
}
