// What becomes of a carga after it was made: a next version, or its end.

import { setImmediate as nextTurn } from 'node:timers/promises'
import { type AdminAct, AdminRefusal, type AdminTurn, type Course } from '../admin-act.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminRole } from '../../../protocol/admin/roles.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { DeliveryKind, HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
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
import { refuseOperatorsAutomaticSans, refuseOperatorsSans } from '../refuse-operator.ts'
import { newDelivery } from './replace-delivery.ts'
import { describeContent, parseSealedFile, type SealedFile } from './sealed-file.ts'
import { SealedMatch } from './sealed-match.ts'
import { SLICE_DELIVERIES } from './fleet-changes.ts'

/** The next version of a carga, and what the hub has made for it so far. */
interface NextVersion {
  readonly request: AdminRequest<'updateCargo'>
  readonly sans: readonly string[] | undefined
  readonly file: SealedFile | undefined
  readonly actor: Actor
  readonly by: AdminRole
  readonly now: Date
  readonly made: AdminReplies['updateCargo']['entregas']
}

interface MatchedVersion extends NextVersion {
  /** Of a sealed file. */
  readonly match: SealedMatch | undefined
}

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
      const next: NextVersion = { request, sans, file, actor, by, now, made: [] }
      const total = await store.reader.countCargoDeliveries(old.id)
      if (total > SLICE_DELIVERIES) {
        return turn.rehearse === undefined
          ? updateForMany(turn, context, old, next, total)
          : rehearseForMany(turn.rehearse, store.reader, old, next)
      }
      return turn.commit(async (writer) => {
        const match = file && (await SealedMatch.read(writer, file))
        await replaceSlice(writer, old, { ...next, match }, ALL)
        const { cargo, act } = await setVersion(writer, { ...next, match })
        const agents = next.made.map(({ agente_id: id }) => id as AgentId)
        return { acts: [act], reply: replyOf(cargo, next), news: { agents } }
      })
    })
  },
}

type UpdatedCargo = AdminReplies['updateCargo']

function replyOf({ id, version }: Cargo, { made }: NextVersion): UpdatedCargo {
  return { carga_id: id, versao: version, entregas: made }
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
    const matched = {
      ...next,
      match: next.file && (await SealedMatch.read(store.reader, next.file)),
    }
    let after = 0
    for (;;) {
      const step: Step = { after, limit: SLICE_DELIVERIES }
      const slice = await changes.prepare(async (writer) => {
        const { count, end } = await replaceSlice(writer, old, matched, step, change)
        if (end !== null) return { count, end, updated: undefined }
        // Agents that enrolled meanwhile came last: the write that finds no more agents has checked all of them.
        const { cargo: updated, act } = await setVersion(writer, matched)
        await writer.putInForce(change.id, next.now)
        await turn.conclude(writer, [act])
        return { count, end, updated }
      })
      if (slice.updated !== undefined) {
        await changes.settle({ ...change, inForceAt: next.now })
        return replyOf(slice.updated, next)
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
  const matched = { ...next, match: next.file && (await SealedMatch.read(reader, next.file)) }
  for (let after: number | null = 0; after !== null;) {
    after = (await planSlice(reader, old, matched, { after, limit: SLICE_DELIVERIES })).end
    await nextTurn()
  }
  const { act } = await planVersion(reader, matched)
  return rehearse(
    [act],
    next.made.map(({ agente_id: id }) => id as AgentId),
  )
}

const ALL: Step = { limit: Number.MAX_SAFE_INTEGER }

async function findUpdatable(
  reader: StoreReader,
  request: AdminRequest<'updateCargo'>,
): Promise<Cargo> {
  const cargo = await findCargo(reader, request.carga)
  refuseOtherVersion(cargo, request.versao)
  refuseOtherKinds(cargo, request)
  return cargo
}

async function replaceSlice(
  writer: StoreWriter,
  old: Cargo,
  next: MatchedVersion,
  step: Step,
  change?: FleetChange,
): Promise<{ readonly count: number; readonly end: number | null }> {
  const { replacements, end } = await planSlice(writer, old, next, step)
  await writer.replaceDeliveries(replacements, next.now, change?.id)
  return { count: replacements.length, end }
}

async function planSlice(
  reader: StoreReader,
  old: Cargo,
  { sans, match, by, now, made }: MatchedVersion,
  step: Step,
): Promise<{ readonly replacements: Replacement[]; readonly end: number | null }> {
  const cargo: Cargo = { ...old, version: old.version + 1, sans: sans ?? old.sans }
  const { deliveries: standing, next } = await reader.listCargoDeliveries(cargo.id, step)
  const agents = await reader.findAgents(standing.map(({ agentId }) => agentId))
  const unrevoked = agents.filter(({ revokedAt }) => revokedAt === null)
  await refuseForbiddenSans(reader, unrevoked, cargo.sans)
  await refuseOperatorsSans(reader, agents, addedSans(old, sans), by)
  const mayRead = new Set(unrevoked.map(({ id }) => id))
  const replacements: Replacement[] = []
  for (const { id, agentId, hostname } of standing) {
    // The next version of a sealed file is for no revoked agent.
    if (match !== undefined && !mayRead.has(agentId)) continue
    match?.meet(hostname)
    const successor = newDelivery(cargo, agentId, now)
    replacements.push({ old: id, successor })
    made.push({ id: successor.id, agente_id: agentId, hostname })
  }
  return { replacements, end: next }
}

interface PlannedVersion {
  readonly cargo: Cargo
  readonly act: AdminAct
}

async function setVersion(writer: StoreWriter, next: MatchedVersion): Promise<PlannedVersion> {
  const planned = await planVersion(writer, next)
  const { cargo } = planned
  await writer.updateCargo(cargo)
  if (next.file !== undefined) await writer.setContent(cargo.id, next.file.content)
  return planned
}

async function planVersion(reader: StoreReader, next: MatchedVersion): Promise<PlannedVersion> {
  const { request, sans, file, match, by, made } = next
  const old = await findUpdatable(reader, request)
  await refuseOperatorsAutomaticSans(reader, old, addedSans(old, sans), by)
  match?.refuseDifferences(old)
  const cargo: Cargo = { ...old, version: old.version + 1, sans: sans ?? old.sans }
  const hostnames = made.map(({ hostname }) => hostname)
  const payload = {
    carga_id: cargo.id,
    nome: cargo.name,
    versao: cargo.version,
    sans: cargo.sans,
    ...(file && { agentes: hostnames, ...describeContent(file.content) }),
  }
  return { cargo, act: { type: HubEventType.cargoUpdated, payload } }
}

function addedSans(old: Cargo, sans: readonly string[] | undefined): readonly string[] {
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

function refuseOtherVersion({ id, version }: Cargo, expected: number | undefined): void {
  if (expected === undefined || expected === version) return
  throw new AdminRefusal('versao_changed', `load ${id} has version ${version} now`)
}
