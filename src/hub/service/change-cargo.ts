// What becomes of a carga after it was made: a next version, or its end.

import type { Clock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../protocol/admin.ts'
import type { AdminRole } from '../../protocol/admin-roles.ts'
import { DeliveryKind, HubEventType } from '../../protocol/words.ts'
import type { Actor } from '../domain/actor.ts'
import type { Cargo } from '../domain/cargo.ts'
import type { DeliveryWithCargo, Store, StoreReader } from '../store/store.ts'
import { toAdminCargo } from './admin-views.ts'
import { cancelDelivery } from './change-delivery.ts'
import {
  contentMissing,
  contentUnwanted,
  parseCargoSans,
  refuseForbiddenSans,
  sansUnwanted,
  type CargoDependencies,
} from './create-cargo.ts'
import { findCargo } from './find-cargo.ts'
import { recordHubAct } from './hub-acts.ts'
import { refuseOperatorsAutomaticSans, refuseOperatorsSans } from './refuse-operator.ts'
import {
  listSealedDeliveries,
  listStandingDeliveries,
  replaceDelivery,
} from './replace-delivery.ts'
import {
  describeContent,
  findSealedAgents,
  parseSealedFile,
  type SealedFile,
} from './sealed-file.ts'

/** The next `versao`, with other names or another content, and a fresh entrega for each agent that has one. */
export async function updateCargo(
  { store, clock, hubNames, contentBytesMax }: CargoDependencies,
  request: AdminRequest<'updateCargo'>,
  actor: Actor,
  by: AdminRole,
): Promise<AdminReplies['updateCargo']> {
  const { selado } = request
  const sans = request.sans === undefined ? undefined : parseCargoSans(request.sans, hubNames)
  const file = selado && parseSealedFile(selado, contentBytesMax)
  return store.write(async (writer) => {
    const now = clock.now()
    const old = await findCargo(writer, request.carga)
    refuseOtherVersion(old, request.versao)
    refuseOtherKinds(old, request)
    const cargo: Cargo = { ...old, version: old.version + 1, sans: sans ?? old.sans }
    const standing =
      file === undefined
        ? await listStandingDeliveries(writer, { cargoId: cargo.id })
        : await matchDeliveries(writer, cargo, file)
    await refuseForbiddenAmong(writer, standing, cargo.sans)
    const given = cargo.sans.filter((san) => !old.sans.includes(san))
    await refuseOperatorsAutomaticSans(writer, cargo, given, by)
    await refuseOperatorsAmong(writer, standing, given, by)
    await writer.updateCargo(cargo)
    if (file !== undefined) await writer.setContent(cargo.id, file.content)
    await recordHubAct(writer, now, HubEventType.cargoUpdated, {
      actor,
      carga_id: cargo.id,
      nome: cargo.name,
      versao: cargo.version,
      sans: cargo.sans,
      ...(file && {
        agentes: standing.map(({ hostname }) => hostname),
        ...describeContent(file.content),
      }),
    })
    const deliveries = []
    for (const each of standing) {
      const { id, agentId } = await replaceDelivery(writer, each, cargo, now)
      deliveries.push({ id, agente_id: agentId, hostname: each.hostname })
    }
    return { carga_id: cargo.id, versao: cargo.version, entregas: deliveries }
  })
}

async function refuseForbiddenAmong(
  reader: StoreReader,
  standing: readonly DeliveryWithCargo[],
  sans: readonly string[],
): Promise<void> {
  for (const { agentId } of standing) {
    const agent = await reader.findAgentById(agentId)
    if (agent?.revokedAt === null) await refuseForbiddenSans(reader, agent, sans)
  }
}

async function refuseOperatorsAmong(
  reader: StoreReader,
  standing: readonly DeliveryWithCargo[],
  given: readonly string[],
  by: AdminRole,
): Promise<void> {
  if (by === 'admin' || given.length === 0) return
  for (const { agentId } of standing) {
    const agent = await reader.findAgentById(agentId)
    if (agent !== undefined) await refuseOperatorsSans(reader, agent, given, by)
  }
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

/** The entregas that the file takes the place of; throws a UserError unless it is sealed to exactly their agents. */
async function matchDeliveries(
  reader: StoreReader,
  cargo: Cargo,
  file: SealedFile,
): Promise<DeliveryWithCargo[]> {
  const agents = await findSealedAgents(reader, file)
  const standing = await listSealedDeliveries(reader, cargo.id)
  const sealedFor = new Set(agents.map(({ hostname }) => hostname))
  const wanted = new Set(standing.map(({ hostname }) => hostname))
  const missing = [...wanted].filter((hostname) => !sealedFor.has(hostname))
  const unwanted = [...sealedFor].filter((hostname) => !wanted.has(hostname))
  if (missing.length + unwanted.length === 0) return standing
  const differences = [
    ...(missing.length === 0 ? [] : [`not sealed for ${missing.join(', ')}`]),
    ...(unwanted.length === 0 ? [] : [`sealed for ${unwanted.join(', ')}, without an entrega`]),
  ]
  throw new UserError(
    'recipients_incomplete',
    `the agentes of carga ${cargo.name} are others: ${differences.join('; ')}`,
    { hint: 'run the command again: it seals for those that have an entrega now' },
  )
}

/** Its entregas are cancelled: what is on the hosts stays there, and is renewed no more. */
export async function removeCargo(
  store: Store,
  clock: Clock,
  request: AdminRequest<'removeCargo'>,
  actor: Actor,
): Promise<AdminReplies['removeCargo']> {
  return store.write(async (writer) => {
    const now = clock.now()
    const cargo = await findCargo(writer, request.carga)
    refuseOtherVersion(cargo, request.versao)
    for (const delivery of await listStandingDeliveries(writer, { cargoId: cargo.id })) {
      await cancelDelivery(writer, delivery, now, actor)
    }
    await writer.updateCargo({ ...cargo, removedAt: now })
    await writer.removeContent(cargo.id)
    await recordHubAct(writer, now, HubEventType.cargoRemoved, {
      actor,
      carga_id: cargo.id,
      nome: cargo.name,
    })
    return toAdminCargo(cargo)
  })
}

function refuseOtherVersion({ id, version }: Cargo, expected: number | undefined): void {
  if (expected === undefined || expected === version) return
  throw new UserError('versao_changed', `carga ${id} has versao ${version} by now`, {
    hint: 'somebody else changed it; look at it again before you do',
  })
}
