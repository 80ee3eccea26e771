// What becomes of a carga after it was made: a next version, or its end.

import { UserError } from '../../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminRole } from '../../../protocol/admin/roles.ts'
import { DeliveryKind, HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import type { Cargo } from '../../domain/cargo.ts'
import type { FleetChange } from '../../domain/fleet-change.ts'
import type { Step, StoreReader, StoreWriter } from '../../store/store.ts'
import { toAdminCargo } from '../admin-views.ts'
import { cancelDeliveries } from './change-delivery.ts'
import type { CargoDependencies } from './create-cargo.ts'
import { findCargo } from './find-cargo.ts'
import { recordHubAct } from '../hub-acts.ts'
import { contentMissing, contentUnwanted, parseCargoSans, sansUnwanted } from './parse-cargo.ts'
import { refuseForbiddenSans } from './refuse-agents.ts'
import { refuseOperatorsAutomaticSans, refuseOperatorsSans } from '../refuse-operator.ts'
import { newDelivery } from './replace-delivery.ts'
import { describeContent, parseSealedFile, type SealedFile } from './sealed-file.ts'
import { SealedMatch } from './sealed-match.ts'
import { SLICE_DELIVERIES } from './fleet-changes.ts'

/** The next version of a carga, and what was made of it so far. */
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
export async function updateCargo(
  dependencies: CargoDependencies,
  request: AdminRequest<'updateCargo'>,
  actor: Actor,
  by: AdminRole,
): Promise<AdminReplies['updateCargo']> {
  const { store, clock, hubNames, contentBytesMax, changes } = dependencies
  const { selado } = request
  const sans = request.sans === undefined ? undefined : parseCargoSans(request.sans, hubNames)
  const file = selado && parseSealedFile(selado, contentBytesMax)
  return changes.inTurn(async () => {
    const now = clock.now()
    const old = await findUpdatable(store.reader, request)
    await refuseOperatorsAutomaticSans(store.reader, old, addedSans(old, sans), by)
    const next: NextVersion = { request, sans, file, actor, by, now, made: [] }
    const total = await store.reader.countCargoDeliveries(old.id)
    const cargo =
      total > SLICE_DELIVERIES
        ? await updateForMany(dependencies, old, next, total)
        : await store.write(async (writer) => {
            const match = file && (await SealedMatch.read(writer, file))
            await replaceSlice(writer, old, { ...next, match }, ALL)
            return commitVersion(writer, { ...next, match })
          })
    return { carga_id: cargo.id, versao: cargo.version, entregas: next.made }
  })
}

/** docs/protocol.md FLT. */
async function updateForMany(
  { store, changes }: CargoDependencies,
  old: Cargo,
  next: NextVersion,
  total: number,
): Promise<Cargo> {
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
        // Whoever was enrolled meanwhile came last; by the write that finds no more all of it is so.
        const updated = await commitVersion(writer, matched)
        await writer.putInForce(change.id, next.now)
        return { count, end, updated }
      })
      if (slice.updated !== undefined) {
        await changes.settle({ ...change, inForceAt: next.now })
        return slice.updated
      }
      after = slice.end
    }
  })
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
  { sans, match, by, now, made }: MatchedVersion,
  step: Step,
  change?: FleetChange,
): Promise<{ readonly count: number; readonly end: number | null }> {
  const cargo: Cargo = { ...old, version: old.version + 1, sans: sans ?? old.sans }
  const { deliveries: standing, next } = await writer.listCargoDeliveries(cargo.id, step)
  const agents = await writer.findAgents(standing.map(({ agentId }) => agentId))
  const unrevoked = agents.filter(({ revokedAt }) => revokedAt === null)
  await refuseForbiddenSans(writer, unrevoked, cargo.sans)
  await refuseOperatorsSans(writer, agents, addedSans(old, sans), by)
  const mayRead = new Set(unrevoked.map(({ id }) => id))
  const replacements = []
  for (const { id, agentId, hostname } of standing) {
    // The next version of a sealed file is for no revoked agent.
    if (match !== undefined && !mayRead.has(agentId)) continue
    match?.meet(hostname)
    const successor = newDelivery(cargo, agentId, now)
    replacements.push({ old: id, successor })
    made.push({ id: successor.id, agente_id: agentId, hostname })
  }
  await writer.replaceDeliveries(replacements, now, change?.id)
  return { count: replacements.length, end: next }
}

async function commitVersion(writer: StoreWriter, next: MatchedVersion): Promise<Cargo> {
  const { request, sans, file, match, actor, by, now, made } = next
  const old = await findUpdatable(writer, request)
  await refuseOperatorsAutomaticSans(writer, old, addedSans(old, sans), by)
  match?.refuseDifferences(old)
  const cargo: Cargo = { ...old, version: old.version + 1, sans: sans ?? old.sans }
  await writer.updateCargo(cargo)
  if (file !== undefined) await writer.setContent(cargo.id, file.content)
  const hostnames = made.map(({ hostname }) => hostname)
  await recordHubAct(writer, now, HubEventType.cargoUpdated, {
    actor,
    carga_id: cargo.id,
    nome: cargo.name,
    versao: cargo.version,
    sans: cargo.sans,
    ...(file && { agentes: hostnames, ...describeContent(file.content) }),
  })
  return cargo
}

function addedSans(old: Cargo, sans: readonly string[] | undefined): readonly string[] {
  return (sans ?? []).filter((san) => !old.sans.includes(san))
}

function refuseOtherKinds({ kind }: Cargo, { sans, selado }: AdminRequest<'updateCargo'>): void {
  if (kind === DeliveryKind.push && (sans ?? selado) !== undefined) {
    throw new UserError('content_unwanted', 'a carga of tipo push changes by another push', {
      hint: 'svc agente push makes its next version',
    })
  }
  if (kind !== DeliveryKind.sealed) {
    if (selado !== undefined) throw contentUnwanted()
    return
  }
  if (sans !== undefined) throw sansUnwanted()
  if (selado === undefined) throw contentMissing()
}

/** Its entregas are cancelled: what is on the hosts stays there, and is renewed no more. */
export async function removeCargo(
  { store, clock, changes }: CargoDependencies,
  request: AdminRequest<'removeCargo'>,
  actor: Actor,
): Promise<AdminReplies['removeCargo']> {
  return changes.inTurn(async () => {
    const { id } = await findCargo(store.reader, request.carga)
    const total = await store.reader.countCargoDeliveries(id)
    const isForMany = total > SLICE_DELIVERIES
    const now = clock.now()
    const removed = await store.write(async (writer) => {
      const cargo = await findCargo(writer, id)
      refuseOtherVersion(cargo, request.versao)
      const plan = { act: 'remove', cargoId: id, actor, inForceAt: now } as const
      const change = isForMany ? { ...plan, id: await writer.insertChange(plan) } : undefined
      const step = isForMany ? undefined : await writer.listCargoDeliveries(id, ALL)
      const standing = step?.deliveries ?? []
      await cancelDeliveries(writer, standing, now, actor)
      await writer.updateCargo({ ...cargo, removedAt: now })
      await writer.removeContent(id)
      const payload = { actor, carga_id: id, nome: cargo.name }
      await recordHubAct(writer, now, HubEventType.cargoRemoved, payload)
      return { cargo, change, agentIds: standing.map(({ agentId }) => agentId) }
    })
    const { cargo, change, agentIds } = removed
    changes.announce(agentIds)
    if (change !== undefined) await changes.settle(change, { cargoName: cargo.name, total })
    return toAdminCargo(cargo)
  })
}

function refuseOtherVersion({ id, version }: Cargo, expected: number | undefined): void {
  if (expected === undefined || expected === version) return
  throw new UserError('versao_changed', `carga ${id} has versao ${version} by now`, {
    hint: 'somebody else changed it; look at it again before you do',
  })
}
