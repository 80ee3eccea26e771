// Which entries of the log a list is about: the indexes that find them, and what is left to look at in each.

import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Agent } from '../../domain/agent.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import { LIVE_STATUSES } from '../../domain/delivery.ts'
import { subjectOfActor } from '../../domain/entry-subject.ts'
import type { EntrySource, StoreReader } from '../../store/store.ts'
import { AdminRefusal } from '../admin-act.ts'
import { findAgent } from '../find-agent.ts'

export interface EntryChoice {
  /** An entry is in one of them at least. */
  readonly sources: readonly EntrySource[]
  /** What no index says; undefined when nothing is left to look at. */
  readonly matches: ((entry: AuditEntry) => boolean) | undefined
  /** It is found by what it is about, which old entries may yet lack. */
  readonly isOfActs: boolean
}

type Request = AdminRequest<'listEntries'>

/** Of an agent that has more, the acts on these: each is one look-up. */
const CARGOES_MAX = 64

/** Undefined for all entries. */
export async function chooseEntries(
  reader: StoreReader,
  request: Request,
): Promise<EntryChoice | undefined> {
  const { agente, about, actor } = request
  const types = request.tipos ?? (request.tipo === undefined ? undefined : [request.tipo])
  const isOfType = types && (({ eventType }: AuditEntry): boolean => types.includes(eventType))
  if (about !== undefined) {
    const sources = await sourcesAbout(reader, about, actor === undefined)
    const isByActor = actor === undefined ? undefined : isActOf(actor)
    return { sources, matches: both(isOfType, isByActor), isOfActs: true }
  }
  if (actor !== undefined) {
    const sources = [{ by: 'subject', value: subjectOfActor(actor) }] as const
    return { sources, matches: isOfType, isOfActs: true }
  }
  if (agente !== undefined) {
    const { id } = await findAgent(reader, agente)
    return { sources: [{ by: 'sender', value: id }], matches: isOfType, isOfActs: false }
  }
  if (types === undefined) return undefined
  const sources = [...new Set(types)].map((value) => ({ by: 'type', value }) as const)
  return { sources, matches: undefined, isOfActs: false }
}

/** A host that has no agent, or no longer, is known by its name. An agent acts on nobody, so what it sent has no actor. */
async function sourcesAbout(
  reader: StoreReader,
  wanted: string,
  isSentIncluded: boolean,
): Promise<EntrySource[]> {
  const agent =
    (await reader.findAgentByHostname(wanted)) ?? (await reader.findAgentById(wanted as AgentId))
  if (agent === undefined) return sourcesOfName(reader, wanted)
  const subjects = [agent.id, agent.hostname, ...(await findCargoes(reader, agent))]
  const acts = subjects.map((value) => ({ by: 'subject', value }) as const)
  return isSentIncluded ? [{ by: 'sender', value: agent.id }, ...acts] : acts
}

async function sourcesOfName(reader: StoreReader, hostname: string): Promise<EntrySource[]> {
  const source = { by: 'subject', value: hostname } as const
  const anyone = { afterSeq: 0, isNewestFirst: true, limit: 1 }
  const found = await reader.listEntrySeqs(source, anyone)
  // Nobody knows of whom an archive speaks without looking at all of it.
  if (found.length > 0 || (await reader.findLastSegment()) !== undefined) return [source]
  throw new AdminRefusal('agent_not_found', `no agent ${hostname}`)
}

/** An act on a carga is about all agents that have it: the act on a fleet names none of them. */
async function findCargoes(reader: StoreReader, { id: agentId }: Agent): Promise<string[]> {
  const deliveries = await reader.listDeliveries({ agentId, statuses: LIVE_STATUSES })
  return [...new Set(deliveries.map(({ cargoId }) => cargoId))].slice(-CARGOES_MAX)
}

function isActOf(actor: string): (entry: AuditEntry) => boolean {
  return ({ payloadText }) => {
    try {
      return (JSON.parse(payloadText) as { actor?: unknown }).actor === actor
    } catch {
      return false
    }
  }
}

type Matches = EntryChoice['matches']

function both(one: Matches, other: Matches): Matches {
  if (one === undefined || other === undefined) return one ?? other
  return (entry) => one(entry) && other(entry)
}
