// What becomes of a carga after it was made: a next version, or its end.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { invariant } from '../../../platform/errors.ts'
import { type AdminAct, AdminRefusal, type AdminTurn, type Course } from '../admin-act.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminRole } from '../../../protocol/admin/roles.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { DeliveryKind, HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Agent } from '../../domain/agent.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { Delivery } from '../../domain/delivery.ts'
import type { FleetChange } from '../../domain/fleet-change.ts'
import type { Replacement, Step, StoreReader, StoreWriter } from '../../store/store.ts'
import { toAdminCargo } from '../admin-views.ts'
import { cancelDeliveries, cancellation } from './change-delivery.ts'
import type { CargoContext } from './cargo-context.ts'
import { findCargo } from './find-cargo.ts'
import { contentMissing, contentUnwanted, parseCargoSans, sansUnwanted } from './parse-cargo.ts'
import { refuseForbiddenSans } from './refuse-agents.ts'
import { refuseOtherVersion } from './refuse-other-version.ts'
import { refuseOperatorsAutomaticSans, refuseOperatorsSans } from '../refuse-operator.ts'
import { newDelivery } from './replace-delivery.ts'
import { refuseUnderRollout } from './refuse-rollout.ts'
import { describeContent, parseSealedFile, type SealedFile } from './sealed-file.ts'
import {
  type Addressees,
  readAddressees,
  refuseNewcomers,
  refuseOtherAddressees,
} from './sealed-addressees.ts'
import { SLICE_DELIVERIES } from './fleet-changes.ts'

/** The next version of a carga, as it was asked for. */
interface NextVersion {
  readonly request: AdminRequest<'updateCargo'>
  readonly sans: readonly string[] | undefined
  readonly file: SealedFile | undefined
  readonly actor: Actor
  readonly by: AdminRole
  readonly now: Date
}

interface AddressedVersion extends NextVersion {
  /** Of a sealed file. */
  readonly sealedFor: Addressees | undefined
}

type UpdatedCargo = AdminReplies['updateCargo']
type Made = UpdatedCargo['entregas']

/** The next `versao`, with other names or another content, and a fresh entrega for each agent that has one. */
export const updateCargo: Course<'updateCargo', CargoContext> = {
  run: async (turn, request, context) => {
    const { store, clock, hubNames, contentBytesMax, changes, actor, role: by } = context
    const { selado } = request
    const sans = request.sans === undefined ? undefined : parseCargoSans(request.sans, hubNames)
    const file = selado && parseSealedFile(selado, contentBytesMax)
    return changes.inTurn(async () => {
      const now = clock.now()
      const old = await findUpdatable(store.reader, request)
      await refuseOperatorsAutomaticSans(store.reader, old, addedSans(old, sans), by)
      const next: NextVersion = { request, sans, file, actor, by, now }
      const total = await store.reader.countCargoDeliveries(old.id)
      if (total > SLICE_DELIVERIES || countAddressees(file) > SLICE_DELIVERIES) {
        return turn.rehearse === undefined
          ? updateForMany(turn, context, old, next, total)
          : rehearseForMany(turn.rehearse, store.reader, old, next)
      }
      return turn.commit(async (writer) => {
        const addressed = await addressNext(writer, old, next)
        const { made } = await replaceSlice(writer, old, addressed, ALL)
        made.push(...(await addNewcomers(writer, old, addressed, newcomersOf(addressed))))
        const { cargo, act } = await setVersion(writer, addressed, made)
        return { acts: [act], reply: replyOf(cargo, made), news: { agents: agentsOf(made) } }
      })
    })
  },
}

function countAddressees(file: SealedFile | undefined): number {
  return file?.recipients.length ?? 0
}

function replyOf({ id, version }: Cargo, made: Made): UpdatedCargo {
  return { carga_id: id, versao: version, entregas: made }
}

function agentsOf(made: Made): AgentId[] {
  return made.map(({ agente_id: id }) => id as AgentId)
}

async function addressNext(
  reader: StoreReader,
  old: Cargo,
  next: NextVersion,
): Promise<AddressedVersion> {
  return { ...next, sealedFor: next.file && (await readAddressees(reader, old, next.file)) }
}

function newcomersOf({ sealedFor }: AddressedVersion): readonly Agent[] {
  return sealedFor?.newcomers ?? []
}

/** The first entregas of hosts that match the selector of a sealed carga, and that its next file is sealed for. */
async function addNewcomers(
  writer: StoreWriter,
  old: Cargo,
  { now }: NextVersion,
  agents: readonly Agent[],
  change?: FleetChange,
): Promise<Made> {
  // As everything is now: they were looked at before the first of several writes.
  await refuseNewcomers(writer, old, agents)
  const cargo = { ...old, version: old.version + 1 }
  const deliveries = agents.map(({ id }) => newDelivery(cargo, id, now))
  await writer.insertDeliveries(deliveries, change?.id)
  return agents.map(({ id: agentId, hostname }, at) => {
    const delivery = deliveries[at]
    invariant(delivery !== undefined, 'each agent has its delivery')
    return { id: delivery.id, agente_id: agentId, hostname }
  })
}

/** docs/protocol.md FLT. */
async function updateForMany(
  turn: AdminTurn,
  { store, changes }: CargoContext,
  old: Cargo,
  next: NextVersion,
  total: number,
): Promise<UpdatedCargo> {
  const { id: cargoId, name: cargoName } = old
  const plan = { act: 'update', cargoId, actor: next.actor, cargoName, total } as const
  return changes.change(plan, async (change) => {
    const addressed = await addressNext(store.reader, old, next)
    const made: Made = []
    const newcomers = newcomersOf(addressed)
    for (let start = 0; start < newcomers.length; start += SLICE_DELIVERIES) {
      const some = newcomers.slice(start, start + SLICE_DELIVERIES)
      const slice = await changes.prepare(async (writer) => {
        return { count: 0, added: await addNewcomers(writer, old, addressed, some, change) }
      })
      made.push(...slice.added)
    }
    let after = 0
    for (;;) {
      const step: Step = { after, limit: SLICE_DELIVERIES }
      const slice = await changes.prepare(async (writer) => {
        const { made: some, end } = await replaceSlice(writer, old, addressed, step, change)
        if (end !== null) return { count: some.length, some, end, updated: undefined }
        // Agents that enrolled meanwhile came last: the write that finds no more agents has checked all of them.
        const { cargo: updated, act } = await setVersion(writer, addressed, [...made, ...some])
        await writer.putInForce(change.id, next.now)
        await turn.conclude(writer, [act])
        return { count: some.length, some, end, updated }
      })
      made.push(...slice.some)
      if (slice.updated !== undefined) {
        await changes.settle({ ...change, inForceAt: next.now })
        return replyOf(slice.updated, made)
      }
      after = slice.end
    }
  })
}

async function rehearseForMany(
  rehearse: NonNullable<AdminTurn['rehearse']>,
  reader: StoreReader,
  old: Cargo,
  next: NextVersion,
): Promise<never> {
  const addressed = await addressNext(reader, old, next)
  const made: Made = newcomersOf(addressed).map(({ id, hostname }) => {
    return { id: '', agente_id: id, hostname }
  })
  for (let after: number | null = 0; after !== null;) {
    const step: Step = { after, limit: SLICE_DELIVERIES }
    const { made: some, end } = await planSlice(reader, old, addressed, step)
    made.push(...some)
    after = end
    await nextTurn()
  }
  const { act } = await planVersion(reader, addressed, made)
  return rehearse([act], agentsOf(made))
}

const ALL: Step = { limit: Number.MAX_SAFE_INTEGER }

/** Throws the AdminRefusal of a carga of which there can be no such next version now. */
export async function findUpdatable(
  reader: StoreReader,
  request: AdminRequest<'updateCargo'>,
): Promise<Cargo> {
  const cargo = await findCargo(reader, request.carga)
  await refuseUnderRollout(reader, cargo)
  refuseOtherVersion(cargo, request.versao)
  refuseOtherKinds(cargo, request)
  return cargo
}

async function replaceSlice(
  writer: StoreWriter,
  old: Cargo,
  next: AddressedVersion,
  step: Step,
  change?: FleetChange,
): Promise<PlannedSlice> {
  const planned = await planSlice(writer, old, next, step)
  await writer.replaceDeliveries(planned.replacements, next.now, change?.id)
  return planned
}

interface PlannedSlice {
  readonly replacements: readonly Replacement[]
  /** The new ones among them, as they are answered. */
  readonly made: Made
  readonly end: number | null
}

async function planSlice(
  reader: StoreReader,
  old: Cargo,
  { sans, sealedFor, by, now }: AddressedVersion,
  step: Step,
): Promise<PlannedSlice> {
  const cargo: Cargo = { ...old, version: old.version + 1, sans: sans ?? old.sans }
  const { deliveries: standing, next } = await reader.listCargoDeliveries(cargo.id, step)
  const agents = await reader.findAgents(standing.map(({ agentId }) => agentId))
  const unrevoked = agents.filter(({ revokedAt }) => revokedAt === null)
  await refuseForbiddenSans(reader, unrevoked, cargo.sans)
  await refuseOperatorsSans(reader, agents, addedSans(old, sans), by)
  const mayRead = new Set(unrevoked.map(({ id }) => id))
  const replacements: Replacement[] = []
  const made: Made = []
  for (const { id, agentId, hostname } of standing) {
    // The next version of a sealed file is for no revoked agent.
    if (sealedFor !== undefined && !mayRead.has(agentId)) continue
    const successor = newDelivery(cargo, agentId, now)
    replacements.push({ old: id, successor })
    made.push({ id: successor.id, agente_id: agentId, hostname })
  }
  return { replacements, made, end: next }
}

interface PlannedVersion {
  readonly cargo: Cargo
  readonly act: AdminAct
}

async function setVersion(
  writer: StoreWriter,
  next: AddressedVersion,
  made: Made,
): Promise<PlannedVersion> {
  const planned = await planVersion(writer, next, made)
  const { cargo } = planned
  await writer.updateCargo(cargo)
  if (next.file !== undefined) await writer.setContent(cargo.id, next.file.content)
  return planned
}

async function planVersion(
  reader: StoreReader,
  { request, sans, file, sealedFor, by }: AddressedVersion,
  made: Made,
): Promise<PlannedVersion> {
  const old = await findUpdatable(reader, request)
  await refuseOperatorsAutomaticSans(reader, old, addedSans(old, sans), by)
  const hostnames = made.map(({ hostname }) => hostname)
  if (sealedFor !== undefined) {
    refuseOtherAddressees(old, { sealedFor: sealedFor.hostnames, hostnames })
  }
  const cargo: Cargo = { ...old, version: old.version + 1, sans: sans ?? old.sans }
  const payload = {
    carga_id: cargo.id,
    nome: cargo.name,
    versao: cargo.version,
    sans: cargo.sans,
    ...(file && { agentes: hostnames, ...describeContent(file.content) }),
  }
  return { cargo, act: { type: HubEventType.cargoUpdated, payload } }
}

export function addedSans(old: Cargo, sans: readonly string[] | undefined): readonly string[] {
  return (sans ?? []).filter((san) => !old.sans.includes(san))
}

function refuseOtherKinds({ kind }: Cargo, { sans, selado }: AdminRequest<'updateCargo'>): void {
  if (kind === DeliveryKind.push && (sans ?? selado) !== undefined) {
    throw new AdminRefusal('content_unwanted', 'only another push changes a load of type push', {
      tipo: kind,
    })
  }
  if (kind !== DeliveryKind.sealed) {
    if (selado !== undefined) throw contentUnwanted()
    return
  }
  if (sans !== undefined) throw sansUnwanted()
  if (selado === undefined) throw contentMissing()
}

/** Cancels the entregas of the carga: the files on the hosts stay there, and nobody renews them. */
export const removeCargo: Course<'removeCargo', CargoContext> = {
  run: async (turn, request, { store, clock, changes, actor }) =>
    changes.inTurn(async () => {
      const { id, name: cargoName } = await findCargo(store.reader, request.carga)
      const total = await store.reader.countCargoDeliveries(id)
      const isForMany = total > SLICE_DELIVERIES
      const now = clock.now()
      if (isForMany && turn.rehearse !== undefined) {
        return rehearseRemoval(turn.rehearse, store.reader, request)
      }
      return turn.commit(async (writer) => {
        const cargo = await findCargo(writer, id)
        await refuseUnderRollout(writer, cargo)
        refuseOtherVersion(cargo, request.versao)
        const plan = { act: 'remove', cargoId: id, actor, inForceAt: now } as const
        const change = isForMany ? { ...plan, id: await writer.insertChange(plan) } : undefined
        const step = isForMany ? undefined : await writer.listCargoDeliveries(id, ALL)
        const standing = step?.deliveries ?? []
        const cancellations = await cancelDeliveries(writer, standing, now)
        await writer.updateCargo({ ...cargo, removedAt: now })
        await writer.removeContent(id)
        return {
          acts: [...cancellations, removal(cargo)],
          news: { agents: standing.map(({ agentId }) => agentId) },
          reply: async () => {
            if (change !== undefined) await changes.settle(change, { cargoName, total })
            return toAdminCargo(cargo)
          },
        }
      })
    }),
}

function removal({ id, name }: Cargo): AdminAct {
  return { type: HubEventType.cargoRemoved, payload: { carga_id: id, nome: name } }
}

/** In the order in which an act on many records them: what is in force first, then what became of each entrega. */
async function rehearseRemoval(
  rehearse: NonNullable<AdminTurn['rehearse']>,
  reader: StoreReader,
  request: AdminRequest<'removeCargo'>,
): Promise<never> {
  const cargo = await findCargo(reader, request.carga)
  await refuseUnderRollout(reader, cargo)
  refuseOtherVersion(cargo, request.versao)
  const standing: Delivery[] = []
  for (let after: number | null = 0; after !== null;) {
    const step: Step = { after, limit: SLICE_DELIVERIES }
    const { deliveries, next } = await reader.listCargoDeliveries(cargo.id, step)
    standing.push(...deliveries)
    after = next
    await nextTurn()
  }
  return rehearse(
    [removal(cargo), ...standing.map(cancellation)],
    standing.map(({ agentId }) => agentId),
  )
}
