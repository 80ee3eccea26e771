// What the hub sees of its hosts while they ask for things: version, platform, addresses, and whether one identity is used
// from two places. It all happens with every request, so it stays in memory; the store gets what has changed, now and then.
// docs/protocol.md AUT-17, AUT-18.

import type { Clock } from '../../../platform/clock.ts'
import type { Logger } from '../../../platform/logger.ts'
import type { AgentId, Hostname } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import {
  type AgentProgram,
  type AgentSighting,
  type DoubledAgent,
  type DoubledIdentity,
  type LiveSighting,
  mergeAddresses,
  parseUserAgent,
  withAddress,
} from '../../domain/agent-sighting.ts'
import {
  type InstanceUse,
  noteInstance,
  noteSwap,
  type StreamSwap,
} from '../../domain/instance-uses.ts'
import type { Store } from '../../store/store.ts'
import { recordHubAct } from '../hub-acts.ts'

export interface SeenRequest {
  readonly userAgent: string | undefined
  /** Undefined where a connection has just ended. */
  readonly address: string | undefined
}

export interface AgentSightings {
  note(agent: Agent, request: SeenRequest): void
  /** A new stream of the agent threw out another one that was held. */
  noteStreamSwap(agent: Agent, swap: Pick<StreamSwap, 'from' | 'to'>): void
  find(agentId: AgentId): LiveSighting | undefined
  findDoubled(agentId: AgentId): DoubledIdentity | undefined
  listDoubled(): readonly DoubledAgent[]
  /** An agent that is revoked. */
  forget(agentId: AgentId): void
  flush(): Promise<void>
  /** Flushes now and then until the signal aborts. */
  run(signal: AbortSignal): Promise<void>
}

interface Sighting {
  userAgent: string | undefined
  program: AgentProgram
  addresses: readonly string[]
  lastMs: number
  readonly uses: InstanceUse[]
  swaps: StreamSwap[] | undefined
}

interface Doubled {
  readonly hostname: Hostname
  readonly sinceMs: number
  lastMs: number
  addresses: readonly string[]
  recordedMs: number
}

const FLUSH_INTERVAL_MS = 60_000
const WRITE_MAX = 1000
const AGENTS_MAX = 100_000
const DOUBLED_MAX = 10_000
/** After the last sign of a second place: agents may poll as rarely as once an hour. */
const HELD_MS = 2 * 3_600_000
const RECORD_INTERVAL_MS = 3_600_000

export function createAgentSightings(store: Store, clock: Clock, log: Logger): AgentSightings {
  const sightings = new Map<AgentId, Sighting>()
  const doubled = new Map<AgentId, Doubled>()
  const changed = new Set<AgentId>()
  const nowMs = (): number => clock.now().getTime()

  const sightingOf = (agentId: AgentId): Sighting => {
    const known = sightings.get(agentId)
    if (known !== undefined) return known
    const [first] = sightings.keys()
    if (sightings.size >= AGENTS_MAX && first !== undefined) sightings.delete(first)
    const program = parseUserAgent(undefined)
    const fresh: Sighting = {
      userAgent: undefined,
      program,
      addresses: [],
      lastMs: 0,
      uses: [],
      swaps: undefined,
    }
    sightings.set(agentId, fresh)
    return fresh
  }
  const noteDoubled = (agent: Agent, addresses: readonly string[]): void => {
    const atMs = nowMs()
    const known = doubled.get(agent.id)
    const isOver = known === undefined || Math.abs(atMs - known.lastMs) > HELD_MS
    if (isOver && doubled.size >= DOUBLED_MAX) return
    const state: Doubled = isOver
      ? { hostname: agent.hostname, sinceMs: atMs, lastMs: atMs, addresses: [], recordedMs: 0 }
      : known
    state.lastMs = atMs
    state.addresses = mergeAddresses(
      addresses.filter((address) => address !== ''),
      state.addresses,
    )
    doubled.set(agent.id, state)
    if (Math.abs(atMs - state.recordedMs) < RECORD_INTERVAL_MS) return
    state.recordedMs = atMs
    record(agent, state)
  }
  const record = (agent: Agent, { addresses, sinceMs }: Doubled): void => {
    const payload = {
      actor: 'hub',
      agente_id: agent.id,
      hostname: agent.hostname,
      addresses,
      since: new Date(sinceMs).toISOString(),
    }
    const { hostname } = agent
    log.warn({ hostname, addresses }, 'One identity is used from two places')
    store
      .write((writer) => recordHubAct(writer, clock.now(), HubEventType.identityUsedTwice, payload))
      .catch((error: unknown) => log.warn({ err: error, hostname }, 'Second place not recorded'))
  }
  const current = (agentId: AgentId): Doubled | undefined => {
    const state = doubled.get(agentId)
    if (state === undefined || Math.abs(nowMs() - state.lastMs) <= HELD_MS) return state
    doubled.delete(agentId)
    return undefined
  }
  const toDoubled = (state: Doubled): DoubledIdentity => ({
    since: new Date(state.sinceMs),
    lastAt: new Date(state.lastMs),
    addresses: state.addresses,
  })
  const writeSome = async (agentIds: readonly AgentId[]): Promise<void> => {
    const stored = new Map(
      (await store.reader.listSightings(agentIds)).map((one) => [one.agentId, one]),
    )
    const fresh = agentIds.flatMap((agentId) => {
      const sighting = sightings.get(agentId)
      if (sighting === undefined) return []
      const known = stored.get(agentId)
      // Of a hub that was started again: what it saw before comes after what it sees now.
      sighting.addresses = mergeAddresses(sighting.addresses, known?.addresses ?? [])
      const { addresses, program } = sighting
      const { version, platform } = program
      const next = { agentId, version, platform, addresses, changedAt: clock.now() }
      return known !== undefined && isSame(known, next) ? [] : next
    })
    if (fresh.length > 0) await store.write((writer) => writer.putSightings(fresh))
  }
  const flush = async (): Promise<void> => {
    // Neighbours share a page.
    const agentIds = [...changed].toSorted()
    changed.clear()
    for (let start = 0; start < agentIds.length; start += WRITE_MAX) {
      await writeSome(agentIds.slice(start, start + WRITE_MAX))
    }
  }

  return {
    note: (agent, { userAgent, address }) => {
      const sighting = sightingOf(agent.id)
      const atMs = nowMs()
      sighting.lastMs = atMs
      const addresses =
        address === undefined ? sighting.addresses : withAddress(sighting.addresses, address)
      if (addresses !== sighting.addresses || userAgent !== sighting.userAgent) {
        sighting.addresses = addresses
        sighting.userAgent = userAgent
        sighting.program = parseUserAgent(userAgent)
        changed.add(agent.id)
      }
      const { instance: id } = sighting.program
      if (id === null) return
      const other = noteInstance(sighting.uses, { id, address: address ?? '' }, atMs)
      if (other !== undefined) noteDoubled(agent, [address ?? '', other.address])
    },
    noteStreamSwap: (agent, { from, to }) => {
      const sighting = sightingOf(agent.id)
      sighting.swaps ??= []
      if (noteSwap(sighting.swaps, { from, to, atMs: nowMs() })) noteDoubled(agent, [to, from])
    },
    find: (agentId) => {
      const sighting = sightings.get(agentId)
      if (sighting === undefined || sighting.lastMs === 0) return undefined
      const { addresses, lastMs } = sighting
      const { version, platform } = sighting.program
      return { agentId, version, platform, addresses, lastSeenAt: new Date(lastMs) }
    },
    findDoubled: (agentId) => {
      const state = current(agentId)
      return state && toDoubled(state)
    },
    listDoubled: () =>
      [...doubled.keys()].flatMap((agentId) => {
        const state = current(agentId)
        return state === undefined ? [] : { ...toDoubled(state), agentId, hostname: state.hostname }
      }),
    forget: (agentId) => {
      doubled.delete(agentId)
      sightings.delete(agentId)
    },
    flush,
    run: async (signal) => {
      while (!signal.aborted) {
        await clock.sleep(FLUSH_INTERVAL_MS, signal).catch(() => undefined)
        await flush().catch((error: unknown) => log.warn({ err: error }, 'Sightings not stored'))
      }
    },
  }
}

function isSame(
  known: AgentSighting,
  next: Pick<AgentSighting, 'version' | 'platform' | 'addresses'>,
): boolean {
  // In which order it asks from its addresses says little: a host with two of them would be written all the time.
  const addresses = new Set(known.addresses)
  return (
    known.version === next.version &&
    known.platform === next.platform &&
    addresses.size === next.addresses.length &&
    next.addresses.every((address) => addresses.has(address))
  )
}
