// What the hub sees of a host whenever the host asks for something.

import type { AgentId, Hostname } from '../../protocol/identifiers.ts'

/** What an agent says of itself in its `User-Agent`. docs/protocol.md SRF-16. */
export interface AgentProgram {
  readonly version: string | null
  /** Such as `linux-x64`; null for agents up to 0.4.0. */
  readonly platform: string | null
  /** Of the process; null for agents up to 0.4.0. */
  readonly instance: string | null
}

/** What is kept of a host. */
export interface AgentSighting {
  readonly agentId: AgentId
  readonly version: string | null
  readonly platform: string | null
  /** From which it asked, the last one first. */
  readonly addresses: readonly string[]
  /** When version, platform or addresses changed last. */
  readonly changedAt: Date
}

/** An identity that is used from two places. */
export interface DoubledIdentity {
  readonly since: Date
  readonly lastAt: Date
  readonly addresses: readonly string[]
}

export interface DoubledAgent extends DoubledIdentity {
  readonly agentId: AgentId
  readonly hostname: Hostname
}

/** What is known since the hub's process started. */
export interface LiveSighting extends Omit<AgentSighting, 'changedAt'> {
  readonly lastSeenAt: Date
}

export const ADDRESSES_MAX = 4

const USER_AGENT =
  /^svc-agent\/(\d{1,5}\.\d{1,5}\.\d{1,5})(?: \(([a-z0-9]{1,16}-[a-z0-9_]{1,16}); instance=([0-9a-f]{16})\))?$/
const STRANGE: AgentProgram = { version: null, platform: null, instance: null }

export function parseUserAgent(text: string | undefined): AgentProgram {
  const [, version = null, platform = null, instance = null] = USER_AGENT.exec(text ?? '') ?? []
  return version === null ? STRANGE : { version, platform, instance }
}

/** The same addresses are the same array. */
export function withAddress(addresses: readonly string[], address: string): readonly string[] {
  if (addresses[0] === address) return addresses
  return [address, ...addresses.filter((one) => one !== address)].slice(0, ADDRESSES_MAX)
}

/** What was seen before comes after what is seen now. */
export function mergeAddresses(fresh: readonly string[], stored: readonly string[]): string[] {
  return [...new Set([...fresh, ...stored])].slice(0, ADDRESSES_MAX)
}
