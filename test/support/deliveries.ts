// Deliveries as an operator makes and sees them.

import type { TestHub } from './hub.ts'

export interface ListedDelivery {
  readonly id: string
  readonly status: string
  readonly erro: string | null
  readonly reverted_at?: string | null
}

/** A carga csr_cert for one agent; answers its id and that of the one entrega. */
export async function createDelivery(
  hub: TestHub,
  hostname: string,
  nome: string,
  sans: readonly string[] = [],
): Promise<{ readonly id: string; readonly cargaId: string }> {
  const cargo = { tipo: 'csr_cert', nome, agentes: [hostname], roles: [], sans }
  const created = await hub.admin<{ carga_id: string; entregas: { id: string }[] }>(
    'POST',
    '/v1/admin/cargas',
    cargo,
  )
  return { id: created.entregas[0]?.id ?? '', cargaId: created.carga_id }
}

export async function findDelivery(hub: TestHub, id: string): Promise<ListedDelivery | undefined> {
  const path = '/v1/admin/entregas'
  const { entregas } = await hub.admin<{ entregas: ListedDelivery[] }>('GET', path)
  return entregas.find((delivery) => delivery.id === id)
}
