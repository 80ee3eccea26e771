// What the hub asks the world by: connections within bounds, to addresses as they were checked, and replies of a bounded size.

import type { Agent } from 'undici'
import { SvcError } from '../../platform/errors.ts'
import { isAllowedAddress } from '../domain/webhook-addresses.ts'
import { addressIn } from '../domain/webhook-url.ts'
import type { AddressLookup } from './address-lookup.ts'

/** Throws an SvcError for an address that the hub does not ask. */
export type AgentFor = (url: URL) => Promise<Agent>

export const OUTSIDE_TIMEOUT_MS = 5000
const BYTES_MAX = 256 * 1024

export function createOutsideAgents(
  lookup: AddressLookup,
  roots: () => readonly string[],
): AgentFor {
  const agents = new Map<string, Promise<Agent>>()
  /** The library takes several megabytes of a hub, and most hubs have nobody to ask. */
  const openAgent = async (protocol: string): Promise<Agent> => {
    const { Agent: UndiciAgent } = await import('undici')
    return new UndiciAgent({
      connect: {
        ca: [...roots()],
        lookup: lookup.forProtocol(protocol),
        autoSelectFamily: true,
        timeout: OUTSIDE_TIMEOUT_MS,
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
    return agent
  }
}

export async function readText(body: AsyncIterable<Buffer>, { host }: URL): Promise<string> {
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of body) {
    bytes += chunk.length
    if (bytes > BYTES_MAX) {
      throw new SvcError('answer_too_large', `${host} sent more than ${BYTES_MAX} bytes`)
    }
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString('utf8')
}
