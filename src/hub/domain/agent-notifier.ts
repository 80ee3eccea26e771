import type { AgentId } from '../../protocol/identifiers.ts'

/** Where services say, after their commit, which agents have something new. */
export interface AgentNotifier {
  announce(agentIds: Iterable<AgentId>): void
  /** Each agent may have something new. */
  announceAll(): void
  /** Whether the agent would be told at once. */
  isOnline(agentId: AgentId): boolean
  /** Since when; undefined while it would not. */
  onlineSince?(agentId: AgentId): Date | undefined
  /** Those that would be told at once; undefined when they are more than `limit`. */
  listOnline?(limit: number): AgentId[] | undefined
}
