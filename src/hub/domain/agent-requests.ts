import type { Agent } from './agent.ts'

/** What an operator asked of an agent, the newest of each kind. */
export interface AgentRequests {
  readonly syncAt: Date | null
  readonly rotation: RequestedRotation | null
}

export interface RequestedRotation {
  readonly at: Date
  /** The agent's newest identity at that time, by `IssuedCertificate.seq`; 0 when the hub knew of none. */
  readonly afterSeq: number
}

/** The use of any identity that was issued since fulfils it, also of one issued for another reason. docs/protocol.md PSH-12. */
export function isFulfilled(rotation: RequestedRotation, agent: Agent): boolean {
  return agent.activeIdentity !== null && agent.activeIdentity.seq > rotation.afterSeq
}
