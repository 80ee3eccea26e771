// What becomes of a carga after it was made: a next version, or its end.

import type { Clock } from '../../platform/clock.ts'
import { UserError } from '../../platform/errors.ts'
import type { AdminReplies, AdminRequest } from '../../protocol/admin.ts'
import type { CargoId } from '../../protocol/identifiers.ts'
import { HubEventType } from '../../protocol/words.ts'
import type { Cargo } from '../domain/cargo.ts'
import type { Store, StoreReader } from '../store/store.ts'
import { toAdminCargo } from './admin-views.ts'
import { cancelDelivery } from './change-delivery.ts'
import { parseCargoSans } from './create-cargo.ts'
import { recordHubAct } from './hub-acts.ts'
import { listStandingDeliveries, replaceDelivery } from './replace-delivery.ts'

/** The next `versao`, with other names if some are given, and a fresh entrega for each agent that has one. */
export async function updateCargo(
  store: Store,
  clock: Clock,
  hubNames: readonly string[],
  request: AdminRequest<'updateCargo'>,
): Promise<AdminReplies['updateCargo']> {
  const sans = request.sans === undefined ? undefined : parseCargoSans(request.sans, hubNames)
  return store.write(async (writer) => {
    const now = clock.now()
    const old = await findCargo(writer, request.carga)
    const cargo: Cargo = { ...old, version: old.version + 1, sans: sans ?? old.sans }
    await writer.updateCargo(cargo)
    await recordHubAct(writer, now, HubEventType.cargoUpdated, {
      actor: 'admin',
      carga_id: cargo.id,
      nome: cargo.name,
      versao: cargo.version,
      sans: cargo.sans,
    })
    const deliveries = []
    for (const standing of await listStandingDeliveries(writer, { cargoId: cargo.id })) {
      const { id, agentId } = await replaceDelivery(writer, standing, cargo, now)
      deliveries.push({ id, agente_id: agentId, hostname: standing.hostname })
    }
    return { carga_id: cargo.id, versao: cargo.version, entregas: deliveries }
  })
}

/** Its entregas are cancelled: what is on the hosts stays there, and is renewed no more. */
export async function removeCargo(
  store: Store,
  clock: Clock,
  request: AdminRequest<'removeCargo'>,
): Promise<AdminReplies['removeCargo']> {
  return store.write(async (writer) => {
    const now = clock.now()
    const cargo = await findCargo(writer, request.carga)
    for (const delivery of await listStandingDeliveries(writer, { cargoId: cargo.id })) {
      await cancelDelivery(writer, delivery, now)
    }
    await writer.updateCargo({ ...cargo, removedAt: now })
    await recordHubAct(writer, now, HubEventType.cargoRemoved, {
      actor: 'admin',
      carga_id: cargo.id,
      nome: cargo.name,
    })
    return toAdminCargo(cargo)
  })
}

async function findCargo(reader: StoreReader, id: string): Promise<Cargo> {
  const cargo = await reader.findCargo(id as CargoId)
  if (cargo !== undefined && cargo.removedAt === null) return cargo
  throw new UserError('cargo_not_found', `no carga ${id}`, { hint: 'svc carga list shows ids' })
}
