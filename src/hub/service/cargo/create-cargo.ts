import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock } from '../../../platform/clock.ts'
import { invariant, UserError } from '../../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminRole } from '../../../protocol/admin/roles.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Store, StoreReader, StoreWriter } from '../../store/store.ts'
import { cargoAgents } from './cargo-agents.ts'
import type { KeptCreation } from './created-deliveries.ts'
import { type FleetChanges, SLICE_DELIVERIES } from './fleet-changes.ts'
import { recordHubAct } from '../hub-acts.ts'
import { parseCargo } from './parse-cargo.ts'
import { refuseForbiddenSans, refuseSameFiles } from './refuse-agents.ts'
import { refuseOperatorsSans } from '../refuse-operator.ts'
import { newDelivery } from './replace-delivery.ts'
import { describeContent, type SealedFile, sealedAgents } from './sealed-file.ts'

export interface CargoDependencies {
  readonly store: Store
  readonly clock: Clock
  /** The hub’s own names, which no carga may have. */
  readonly hubNames: readonly string[]
  /** The most that a sealed file may hold. */
  readonly contentBytesMax: number
  readonly changes: FleetChanges
}

/** A carga that is yet to be made, and whom it is for. */
interface Draft {
  readonly cargo: Cargo
  readonly file: SealedFile | undefined
  readonly request: AdminRequest<'createCargo'>
  readonly actor: Actor
  readonly by: AdminRole
  readonly now: Date
}

/** Registers a carga and one entrega per agent, all or nothing. */
export async function createCargo(
  dependencies: CargoDependencies,
  request: AdminRequest<'createCargo'>,
  actor: Actor,
  by: AdminRole,
): Promise<AdminReplies['createCargo']> {
  const now = dependencies.clock.now()
  const draft: Draft = { ...parseCargo(request, dependencies, now), request, actor, by, now }
  const { reader } = dependencies.store
  const total = await countAgents(reader, draft)
  return total > SLICE_DELIVERIES
    ? createForMany(dependencies, draft, total)
    : createAtOnce(dependencies, draft)
}

async function createAtOnce({ store }: CargoDependencies, draft: Draft): Promise<CreatedCargo> {
  return store.write(async (writer) => {
    const agents = []
    for await (const slice of agentsOf(writer, draft)) agents.push(...slice)
    await refuseAgents(writer, agents, draft)
    await writer.insertCargo(draft.cargo)
    const entregas = await deliver(writer, agents, draft)
    const agentes = agents.map(({ hostname }) => hostname)
    await recordCreation(writer, draft, { agentes })
    return { carga_id: draft.cargo.id, entregas }
  })
}

/** docs/protocol.md FLT. */
async function createForMany(
  { store, changes }: CargoDependencies,
  draft: Draft,
  total: number,
): Promise<CreatedCargo> {
  const { cargo, actor, now } = draft
  return changes.inTurn(async () => {
    // Its entregas need a row to point at; a removed one is in no list.
    await changes.prepare(async (writer) => {
      await writer.insertCargo({ ...cargo, removedAt: now })
      return { count: 0 }
    })
    const plan = { act: 'create', cargoId: cargo.id, actor, cargoName: cargo.name, total } as const
    return changes.change(plan, async (change) => {
      const entregas: CreatedCargo['entregas'] = []
      for await (const agents of agentsOf(store.reader, draft)) {
        await changes.prepare(async (writer) => {
          await refuseAgents(writer, agents, draft)
          entregas.push(...(await deliver(writer, agents, draft, change.id)))
          return { count: agents.length }
        })
      }
      await store.write(async (writer): Promise<KeptCreation> => {
        await writer.updateCargo(cargo)
        await writer.deleteChange(change.id)
        await recordCreation(writer, draft, { agentes_total: entregas.length })
        return { carga_id: cargo.id, mudanca: change.id }
      })
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

/** Nobody, when a policy is to give it to agents that are yet to be enrolled. */
async function* agentsOf(reader: StoreReader, { request, file }: Draft): AsyncGenerator<Agent[]> {
  if (file !== undefined) {
    yield* sealedAgents(reader, file)
  } else if (request.unassigned !== true) {
    yield* cargoAgents(reader, request)
  } else if (request.agentes.length + request.roles.length > 0) {
    throw new UserError('agents_unwanted', 'a carga that is unassigned is for nobody yet', {
      hint: 'agentes and roles are empty',
    })
  }
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

async function recordCreation(
  writer: StoreWriter,
  { cargo, file, actor, now }: Draft,
  whom: Readonly<Record<string, unknown>>,
): Promise<void> {
  if (file !== undefined) await writer.setContent(cargo.id, file.content)
  await recordHubAct(writer, now, HubEventType.cargoCreated, {
    actor,
    carga_id: cargo.id,
    tipo: cargo.kind,
    nome: cargo.name,
    versao: cargo.version,
    sans: cargo.sans,
    ...whom,
    ...(file && describeContent(file.content)),
  })
}
