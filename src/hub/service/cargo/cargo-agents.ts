import { AdminRefusal } from '../admin-act.ts'
import type { Selector } from '../../../protocol/selector.ts'
import type { Agent } from '../../domain/agent.ts'
import type { StoreReader } from '../../store/store.ts'
import { agentSlices } from '../agent-slices.ts'
import { findAgent } from '../find-agent.ts'
import { SLICE_DELIVERIES } from './fleet-changes.ts'

interface WantedAgents {
  readonly agentes: readonly string[]
  readonly roles: readonly string[]
}

/** The named agents and the agents of the named roles, each once, a slice at a time; throws an AdminRefusal when there is no agent. */
export async function* cargoAgents(
  reader: StoreReader,
  wanted: WantedAgents,
): AsyncGenerator<Agent[]> {
  const known = new Set<string>()
  let slice: Agent[] = []
  for await (const agent of eachAgent(reader, wanted)) {
    if (known.has(agent.id)) continue
    known.add(agent.id)
    slice.push(agent)
    if (slice.length < SLICE_DELIVERIES) continue
    yield slice
    slice = []
  }
  if (slice.length > 0) yield slice
  if (known.size > 0) return
  throw new AdminRefusal('no_recipient', 'no agent would get this load')
}

async function* eachAgent(
  reader: StoreReader,
  { agentes, roles }: WantedAgents,
): AsyncGenerator<Agent> {
  for (const name of agentes) yield findUnrevokedAgent(reader, name)
  for (const role of roles) {
    let after: string | undefined
    for (;;) {
      const some = await reader.listRoleAgents(role, { after, limit: SLICE_DELIVERIES })
      yield* some
      after = some.at(-1)?.id
      if (some.length < SLICE_DELIVERIES) break
    }
  }
}

/** Those that match and are not revoked; there may be none. */
export async function* matchingAgents(
  reader: StoreReader,
  where: Selector,
): AsyncGenerator<readonly Agent[]> {
  const sliceAgents = SLICE_DELIVERIES
  for await (const slice of agentSlices(reader, { where, sliceAgents })) {
    yield slice.filter(({ revokedAt }) => revokedAt === null)
  }
}

/** By id or hostname. */
export async function findUnrevokedAgent(reader: StoreReader, wanted: string): Promise<Agent> {
  const agent = await findAgent(reader, wanted)
  if (agent.revokedAt === null) return agent
  throw new AdminRefusal('agent_revoked', `agent ${agent.hostname} is revoked`)
}
