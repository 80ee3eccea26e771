// How many hosts of a carga are in which status, beside the carga. docs/protocol.md API-151.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { AdminCargo, AdminListedCargo } from '../../../protocol/admin/views.ts'
import type { CargoId } from '../../../protocol/identifiers.ts'
import type { StoreReader } from '../../store/store.ts'

const STEP_CARGAS = 1000

export async function withStatuses(
  reader: StoreReader,
  cargas: readonly AdminCargo[],
): Promise<AdminListedCargo[]> {
  const listed = new Map(
    cargas.map((carga) => [
      carga.id,
      {
        ...carga,
        statuses: { pendente: 0, em_andamento: 0, instalada: 0, entregue: 0, falhou: 0 },
      },
    ]),
  )
  const ids = [...listed.keys()] as CargoId[]
  for (let at = 0; at < ids.length; at += STEP_CARGAS) {
    const counts = await reader.countStatusesOfCargoes(ids.slice(at, at + STEP_CARGAS))
    for (const { cargoId, status, total } of counts) {
      const carga = listed.get(cargoId)
      if (carga !== undefined) carga.statuses = { ...carga.statuses, [status]: total }
    }
    if (at + STEP_CARGAS < ids.length) await nextTurn()
  }
  return [...listed.values()]
}
