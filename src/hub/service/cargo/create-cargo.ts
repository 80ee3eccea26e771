import { setImmediate as nextTurn } from 'node:timers/promises'
import { invariant } from '../../../platform/errors.ts'
import { type AdminAct, AdminRefusal, type AdminTurn, type Course } from '../admin-act.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminRole } from '../../../protocol/admin/roles.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { StoreReader, StoreWriter } from '../../store/store.ts'
import { cargoAgents, matchingAgents } from './cargo-agents.ts'
import { refuseTooManySelected } from './change-selection.ts'
import type { KeptCreation } from './created-deliveries.ts'
import type { CargoContext } from './cargo-context.ts'
import { SLICE_DELIVERIES } from './fleet-changes.ts'
import { parseCargo } from './parse-cargo.ts'
import { refuseForbiddenSans, refuseSameFiles } from './refuse-agents.ts'
import { refuseOperatorsSans, refuseOperatorsSelectedSans } from '../refuse-operator.ts'
import { refuseUnmatched } from './sealed-addressees.ts'
import { parseStored } from '../selected-cargoes.ts'
import { newDelivery } from './replace-delivery.ts'
import { describeContent, type SealedFile, sealedAgents } from './sealed-file.ts'

/** A carga to make, and the agents that it is for. */
interface Draft {
  readonly cargo: Cargo
  readonly file: SealedFile | undefined
  readonly request: AdminRequest<'createCargo'>
  readonly actor: Actor
  readonly by: AdminRole
  readonly now: Date
}

/** Registers a carga and one entrega per agent, all or nothing. */
export const createCargo: Course<'createCargo', CargoContext> = {
  run: async (turn, request, context) => {
    const { actor, role: by } = context
    const now = context.clock.now()
    await turn.refuseRepetition()
    const draft: Draft = { ...parseCargo(request, context, now), request, actor, by, now }
    const total = await countAgents(context.store.reader, draft)
    if (total <= SLICE_DELIVERIES) return createAtOnce(turn, draft)
    if (turn.rehearse === undefined) return createForMany(turn, context, draft, total)
    await refuseSelection(context.store.reader, draft)
    const ids: AgentId[] = []
    for await (const agents of agentsOf(context.store.reader, draft)) {
      await refuseAgents(context.store.reader, agents, draft)
      ids.push(...agents.map(({ id }) => id))
      await nextTurn()
    }
    return turn.rehearse([creation(draft, { agentes_total: ids.length })], ids)
  },
}

async function createAtOnce(turn: AdminTurn, draft: Draft): Promise<CreatedCargo> {
  return turn.commit(async (writer) => {
    await refuseSelection(writer, draft)
    const agents = []
    for await (const slice of agentsOf(writer, draft)) agents.push(...slice)
    await refuseAgents(writer, agents, draft)
    await writer.insertCargo(draft.cargo)
    const entregas = await deliver(writer, agents, draft)
    const agentes = agents.map(({ hostname }) => hostname)
    await keepContent(writer, draft)
    return {
      acts: [creation(draft, { agentes })],
      reply: { carga_id: draft.cargo.id, entregas },
      news: { agents: agents.map(({ id }) => id) },
    }
  })
}

/** docs/protocol.md FLT. */
async function createForMany(
  turn: AdminTurn,
  { store, changes }: CargoContext,
  draft: Draft,
  total: number,
): Promise<CreatedCargo> {
  const { cargo, actor, now } = draft
  return changes.inTurn(async () => {
    await turn.refuseRepetition()
    await refuseSelection(store.reader, draft)
    // Its entregas need a row to point at; a removed one is in no list.
    await changes.prepare(async (writer) => {
      await writer.insertCargo({ ...cargo, removedAt: now })
      return { count: 0 }
    })
    const plan = { act: 'create', cargoId: cargo.id, actor, cargoName: cargo.name, total } as const
    return changes.change(plan, async (change) => {
      const entregas: CreatedCargo['entregas'] = []
      for await (const agents of agentsOf(store.reader, draft)) {
        const { some } = await changes.prepare(async (writer) => {
          await refuseAgents(writer, agents, draft)
          return { count: agents.length, some: await deliver(writer, agents, draft, change.id) }
        })
        entregas.push(...some)
      }
      const news = { agents: entregas.map(({ agente_id: id }) => id as AgentId) }
      const kept: KeptCreation = { carga_id: cargo.id, mudanca: change.id }
      await store.write(async (writer) => {
        await writer.updateCargo(cargo)
        await writer.deleteChange(change.id)
        await keepContent(writer, draft)
        await turn.conclude(writer, [creation(draft, { agentes_total: entregas.length })], kept)
        await writer.tellOthers(news)
      })
      await turn.spread(news)
      return { carga_id: cargo.id, entregas }
    })
  })
}

type CreatedCargo = AdminReplies['createCargo']

async function countAgents(reader: StoreReader, draft: Draft): Promise<number> {
  let count = 0
  for await (const slice of agentsOf(reader, draft)) {
    count += slice.length
    await nextTurn()
  }
  return count
}

/** Nobody, when a policy is to give it to agents that are yet to be enrolled, or when none matches yet. */
async function* agentsOf(
  reader: StoreReader,
  { cargo, request, file }: Draft,
): AsyncGenerator<readonly Agent[]> {
  if (file !== undefined) {
    for await (const agents of sealedAgents(reader, file)) {
      await refuseUnmatched(reader, cargo, agents)
      yield agents
    }
  } else if (cargo.where !== null) {
    yield* matchingAgents(reader, parseStored(cargo.where))
  } else if (request.unassigned !== true) {
    yield* cargoAgents(reader, request)
  } else if (request.agentes.length + request.roles.length > 0) {
    throw new AdminRefusal('agents_unwanted', 'an unassigned load has no agents yet')
  }
}

async function refuseSelection(reader: StoreReader, { cargo, by }: Draft): Promise<void> {
  if (cargo.where === null) return
  await refuseTooManySelected(reader)
  await refuseOperatorsSelectedSans(reader, parseStored(cargo.where), cargo.sans, by)
}

async function refuseAgents(
  reader: StoreReader,
  agents: readonly Agent[],
  { cargo, by }: Draft,
): Promise<void> {
  await refuseSameFiles(reader, agents, cargo)
  await refuseForbiddenSans(reader, agents, cargo.sans)
  await refuseOperatorsSans(reader, agents, cargo.sans, by)
}

async function deliver(
  writer: StoreWriter,
  agents: readonly Agent[],
  { cargo, now }: Draft,
  change?: number,
): Promise<CreatedCargo['entregas']> {
  const deliveries = agents.map((agent) => newDelivery(cargo, agent.id, now))
  await writer.insertDeliveries(deliveries, change)
  return agents.map(({ id: agentId, hostname }, index) => {
    const delivery = deliveries[index]
    invariant(delivery !== undefined, 'each agent has its delivery')
    return { id: delivery.id, agente_id: agentId, hostname }
  })
}

async function keepContent(writer: StoreWriter, { cargo, file }: Draft): Promise<void> {
  if (file !== undefined) await writer.setContent(cargo.id, file.content)
}

function creation({ cargo, file }: Draft, whom: Readonly<Record<string, unknown>>): AdminAct {
  const payload = {
    carga_id: cargo.id,
    tipo: cargo.kind,
    nome: cargo.name,
    versao: cargo.version,
    sans: cargo.sans,
    ...(cargo.where !== null && { where: cargo.where }),
    ...whom,
    ...(file && describeContent(file.content)),
  }
  return { type: HubEventType.cargoCreated, payload }
}
