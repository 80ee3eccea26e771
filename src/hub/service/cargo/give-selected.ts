// Cargas that belong to selectors, given when an agent asks for its manifest, or when the hub looks at what there is to tell it:
// whatever made the host match, or took an obstacle away, there is one way to get a carga. docs/protocol.md LBL-19, LBL-20.

import type { Clock } from '../../../platform/clock.ts'
import { SvcError } from '../../../platform/errors.ts'
import type { Logger } from '../../../platform/logger.ts'
import { rivalNames } from '../../../protocol/artefact-files.ts'
import type { AgentId, DeliveryId } from '../../../protocol/identifiers.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { NewAuditEntry } from '../../domain/audit-entry.ts'
import { type Cargo, sharedFileOf } from '../../domain/cargo.ts'
import {
  decideSelected,
  type SelectedCargo,
  type SelectedDeliveries,
} from '../../domain/decide-selected.ts'
import type { Replacement, Store, StoreReader, StoreWriter } from '../../store/store.ts'
import { appendEntries } from '../append-entries.ts'
import { findRules } from '../find-rules.ts'
import { hubAct } from '../hub-acts.ts'
import { listStandingDeliveries, newDelivery } from './replace-delivery.ts'
import { createSelectedCargoes, type SelectedCargoes } from '../selected-cargoes.ts'

/** Whether the agent now has all that it can have; false when the hub could not store it, or gave only a part. */
export type GiveSelected = (agent: Agent) => Promise<boolean>

/** In one write; the agent polls again for the rest. */
const GIVEN_MAX = 50
/** After a write that failed: each agent of a fleet polls, and a full disk is full for the next one too. */
const RETRY_MS = 5000

export function createGiveSelected(store: Store, clock: Clock, log: Logger): GiveSelected {
  const selected = createSelectedCargoes(store)
  let failedAtMs = Number.NEGATIVE_INFINITY
  return async (agent) => {
    const cargoes = await selected.now()
    if (cargoes.length === 0) return true
    const planned = await planFor(store.reader, agent, cargoes)
    if (countOf(planned) === 0) return true
    // Also after a clock that was set back.
    if (Math.abs(clock.now().getTime() - failedAtMs) < RETRY_MS) return false
    try {
      const left = await store.write((writer) => give(writer, agent.id, selected, clock.now()))
      return left === 0
    } catch (error) {
      if (!(error instanceof SvcError)) throw error
      failedAtMs = clock.now().getTime()
      // The agent gets what it has, and comes again.
      log.warn({ agent_id: agent.id, err: error }, 'Cargas of selectors are not given')
      return false
    }
  }
}

async function planFor(
  reader: StoreReader,
  agent: Agent,
  cargoes: readonly SelectedCargo[],
): Promise<SelectedDeliveries> {
  const { id, hostname, role } = agent
  const labels = (await reader.listLabels([id])).get(id) ?? new Map<string, string>()
  const standing = await listStandingDeliveries(reader, { agentId: id })
  const rules = await findRules(reader, agent)
  return decideSelected({ hostname, role, labels, standing, rules }, cargoes)
}

/** As everything is now; how many are left for the next time, beside what waits for the end of an act. */
async function give(
  writer: StoreWriter,
  agentId: AgentId,
  selected: SelectedCargoes,
  now: Date,
): Promise<number> {
  const agent = await writer.findAgentById(agentId)
  if (agent === undefined || agent.revokedAt !== null || agent.removedAt !== null) return 0
  const planned = await planFor(writer, agent, await selected.read(writer))
  const possible = await leaveOutPrepared(writer, agentId, planned.given)
  const given = possible.slice(0, GIVEN_MAX)
  const outdated = planned.outdated.slice(0, GIVEN_MAX - given.length)
  const fresh = given.map((cargo) => ({ cargo, delivery: newDelivery(cargo, agentId, now) }))
  const renewed = outdated.map(({ old, cargo }) => {
    return { cargo, old: old.id, delivery: newDelivery(cargo, agentId, now) }
  })
  await writer.insertDeliveries(fresh.map(({ delivery }) => delivery))
  const replacements = renewed.map(({ old, delivery }): Replacement => {
    return { old, successor: delivery }
  })
  await writer.replaceDeliveries(replacements, now)
  const entries = [...fresh, ...renewed].map((each) => assignment(agent, each, now))
  await appendEntries(writer, entries)
  await writer.tellOthers({ agents: [agentId] })
  return possible.length + planned.outdated.length - entries.length
}

/** An act on many entregas that is under way may have prepared one for the same file: its end is a commit about all agents. */
async function leaveOutPrepared(
  reader: StoreReader,
  agentId: AgentId,
  cargoes: readonly Cargo[],
): Promise<readonly Cargo[]> {
  const names = cargoes.flatMap(({ kind, name }) => rivalNames(kind, name))
  const rivals = await reader.listRivals([agentId], names)
  return cargoes.filter((cargo) => rivals.every((rival) => !sharedFileOf(rival, cargo)))
}

function countOf({ given, outdated }: SelectedDeliveries): number {
  return given.length + outdated.length
}

interface Assigned {
  readonly cargo: Cargo
  readonly delivery: { readonly id: DeliveryId }
  readonly old?: DeliveryId
}

function assignment(
  { id, hostname }: Agent,
  { cargo, delivery, old }: Assigned,
  now: Date,
): NewAuditEntry {
  const payload = {
    actor: 'hub',
    carga_id: cargo.id,
    nome: cargo.name,
    versao: cargo.version,
    where: cargo.where,
    agente_id: id,
    hostname,
    ...(old !== undefined && { entrega_anterior: old }),
  }
  return hubAct(now, HubEventType.cargoAssigned, payload, delivery.id)
}
