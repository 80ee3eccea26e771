import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Agent } from '../domain/agent.ts'
import type { StoreReader } from '../store/store.ts'

/** Few enough that no caller notices the wait for them. */
const SLICE_AGENTS = 500

/**
 * All agents that are not removed, by hostname, a slice at a time. Between two slices all other callers have a turn;
 * an agent that is enrolled or removed meanwhile may be among them or not.
 */
export async function* agentSlices(reader: StoreReader): AsyncGenerator<Agent[]> {
  let after: string | undefined
  for (;;) {
    // A row stays for ever, so there always is one `after`.
    const slice = (await reader.pageAgents({ after, limit: SLICE_AGENTS })) ?? []
    if (slice.length > 0) yield slice
    if (slice.length < SLICE_AGENTS) return
    after = slice.at(-1)?.id
    await nextTurn()
  }
}
