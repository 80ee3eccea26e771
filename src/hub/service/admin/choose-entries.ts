// Which entries of the log a list is about: the indexes that find them, and what is left to look at in each.

import type { ENTRY_GROUPS } from '../../../protocol/admin/bounds.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { isRoutine } from '../../../protocol/routine-events.ts'
import type { Agent } from '../../domain/agent.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import { LIVE_STATUSES } from '../../domain/delivery.ts'
import { subjectOfActor } from '../../domain/entry-subject.ts'
import type { EntrySource, StoreReader } from '../../store/store.ts'
import { AdminRefusal } from '../admin-act.ts'
import { findAgent } from '../find-agent.ts'

/** One way to find them all. */
export interface EntryWay {
  /** An entry is in one of them at least. */
  readonly sources: readonly EntrySource[]
  /** What no index says; undefined when nothing is left to look at. */
  readonly matches: ((entry: AuditEntry) => boolean) | undefined
}

export interface EntryChoice extends EntryWay {
  /** The same entries: which of the two has less to look at is not known before. */
  readonly otherwise?: EntryWay
  /** It is found by what it is about, which old entries may yet lack. */
  readonly isOfActs: boolean
}

type Request = AdminRequest<'listEntries'>

/** Of an agent that has more, the acts on these: each is one look-up. */
const CARGOES_MAX = 64
/** Of more names that acted, entries are looked at one by one. */
const ACTORS_MAX = 256

/** Undefined for all entries. */
export async function chooseEntries(
  reader: StoreReader,
  request: Request,
): Promise<EntryChoice | undefined> {
  const { agente, about, actor, by } = request
  const kinds = chooseKinds(request)
  if (about !== undefined) {
    const sources = await sourcesAbout(reader, about, actor === undefined)
    const isByThem = by === undefined ? undefined : IS_BY[by]
    const isByActor = actor === undefined ? isByThem : isActOf(actor)
    return { sources, matches: both(kinds?.matches, isByActor), isOfActs: true }
  }
  if (actor !== undefined) {
    const sources = [{ by: 'subject', value: subjectOfActor(actor) }] as const
    const otherwise = kinds && { sources: kinds.sources, matches: isActOf(actor) }
    return { sources, matches: kinds?.matches, ...(otherwise && { otherwise }), isOfActs: true }
  }
  if (by === 'people') return chooseActsOfPeople(reader, kinds)
  if (by === 'hosts') {
    const { sources, matches } = kinds ?? NOTABLE
    const isNotable = both(matches, NOTABLE.matches)
    return { sources, matches: both(isNotable, IS_BY.hosts), isOfActs: false }
  }
  if (agente !== undefined) {
    const { id } = await findAgent(reader, agente)
    return { sources: [{ by: 'sender', value: id }], matches: kinds?.matches, isOfActs: false }
  }
  return kinds && { sources: kinds.sources, matches: undefined, isOfActs: false }
}

const NOTABLE: EntryWay = {
  sources: [{ by: 'notable' }],
  matches: ({ eventType }) => !isRoutine(eventType),
}

const IS_BY: Readonly<Record<(typeof ENTRY_GROUPS)[number], (entry: AuditEntry) => boolean>> = {
  people: (entry) => isPerson(actorOf(entry)),
  hosts: ({ agentId }) => agentId !== null,
}

/** Each name that acted is one look-up; people are as many as there are names. */
async function chooseActsOfPeople(
  reader: StoreReader,
  kinds: EntryWay | undefined,
): Promise<EntryChoice> {
  const actors = await reader.listActors(ACTORS_MAX)
  if (actors.length === ACTORS_MAX) {
    const { sources, matches } = kinds ?? NOTABLE
    return { sources, matches: both(matches, IS_BY.people), isOfActs: true }
  }
  const sources = actors
    .filter(isPerson)
    .map((actor) => ({ by: 'subject', value: subjectOfActor(actor) }) as const)
  return { sources, matches: kinds?.matches, isOfActs: true }
}

/** By type; undefined for all of them. */
function chooseKinds({ tipo, tipos, routine = true }: Request): EntryWay | undefined {
  const asked = tipos ?? (tipo === undefined ? undefined : [tipo])
  if (asked === undefined) {
    if (routine) return undefined
    return NOTABLE
  }
  const types = new Set(routine ? asked : asked.filter((type) => !isRoutine(type)))
  const sources = [...types].map((value) => ({ by: 'type', value }) as const)
  return { sources, matches: ({ eventType }) => types.has(eventType) }
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
  return (entry) => actorOf(entry) === actor
}

/** Undefined for what an agent sent: it acts on nobody, whatever it says. */
function actorOf({ agentId, payloadText }: AuditEntry): unknown {
  if (agentId !== null) return undefined
  try {
    return (JSON.parse(payloadText) as { actor?: unknown }).actor
  } catch {
    return undefined
  }
}

/** By `svc` at the vault, or with a token that has a name. */
function isPerson(actor: unknown): boolean {
  return actor === 'admin' || (typeof actor === 'string' && actor.startsWith('token:'))
}

type Matches = EntryWay['matches']

function both(one: Matches, other: Matches): Matches {
  if (one === undefined || other === undefined) return one ?? other
  return (entry) => one(entry) && other(entry)
}
