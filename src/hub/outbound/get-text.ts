// A document from somewhere else, by HTTPS: bounded in time and size, no redirects, addresses as they were checked.

import type { Agent } from 'undici'
import { SvcError } from '../../platform/errors.ts'
import { isAllowedAddress } from '../domain/webhook-addresses.ts'
import { addressIn } from '../domain/webhook-url.ts'
import type { AddressLookup } from './address-lookup.ts'

/** Throws an SvcError that says why there is no document. */
export type GetText = (url: URL) => Promise<string>

const TIMEOUT_MS = 5000
const BYTES_MAX = 256 * 1024

export function createGetText(
  lookup: AddressLookup,
  roots: () => readonly string[],
  version: string,
): GetText {
  const agents = new Map<string, Promise<Agent>>()
  /** The library takes several megabytes of a hub, and most hubs have nobody to ask. */
  const openAgent = async (protocol: string): Promise<Agent> => {
    const { Agent: UndiciAgent } = await import('undici')
    return new UndiciAgent({
      connect: {
        ca: [...roots()],
        lookup: lookup.forProtocol(protocol),
        autoSelectFamily: true,
        timeout: TIMEOUT_MS,
      },
      allowH2: false,
      // Once in a long while: a connection that is kept is one more thing that can hang.
      pipelining: 0,
    })
  }
  return async (url) => {
    const address = addressIn(url)
    if (address !== undefined && !isAllowedAddress(address, url.protocol)) {
      throw new SvcError('address_refused', `the hub does not ask ${address}`)
    }
    const agent = agents.get(url.protocol) ?? openAgent(url.protocol)
    agents.set(url.protocol, agent)
    const signal = AbortSignal.timeout(TIMEOUT_MS)
    const reply = await (
      await agent
    ).request({
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

async function readText(body: AsyncIterable<Buffer>, url: URL): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > BYTES_MAX) {
      throw new SvcError('answer_too_large', `${url.host} sent more than ${BYTES_MAX} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
