// The cargas of the hub that transcripts run on: one, `site`.

import type { AdminAgent, AdminCargo } from '../../src/protocol/admin/views.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import { AdminRefusal } from '../../src/hub/service/admin-act.ts'

export const CARGO = {
  id: '5f0f1f6a-3f0e-4bb1-b1a2-3f9a6f7f0c22',
  tipo: 'csr_cert',
  nome: 'site',
  versao: 1,
  sans: ['site.example.org', '*.site.example.org'],
  where: null as string | null,
  created_at: '2026-11-20T11:00:00.000Z',
}

type CargoOperations = Pick<
  AdminOperations,
  | 'createCargo'
  | 'listCargoes'
  | 'showCargo'
  | 'updateCargo'
  | 'selectCargo'
  | 'showSelection'
  | 'pruneCargo'
  | 'removeCargo'
>

const STATUSES = { pendente: 0, em_andamento: 0, instalada: 1, entregue: 0, falhou: 0 }

/** Each entrega has this id, and is of the one agent. */
export function fakeCargoes(
  findAgent: (name: string) => AdminAgent,
  deliveryId: string,
  { id: agente_id, hostname }: Pick<AdminAgent, 'id' | 'hostname'>,
): CargoOperations {
  const agent = { agente_id, hostname }
  const cargo = { ...CARGO }
  const findCargo = (id: string): AdminCargo => {
    if (id === cargo.id) return cargo
    throw new AdminRefusal('cargo_not_found', `no load ${id}`)
  }
  return {
    createCargo: async ({ agentes }) => ({
      carga_id: CARGO.id,
      entregas: agentes.map((name) => ({
        id: deliveryId,
        agente_id: findAgent(name).id,
        hostname: name,
      })),
    }),
    listCargoes: async () => ({ cargas: [{ ...cargo, statuses: STATUSES }], next: null }),
    updateCargo: async ({ carga, sans }) => {
      Object.assign(findCargo(carga), sans === undefined ? {} : { sans })
      cargo.versao += 1
      const entrega = { id: deliveryId, ...agent }
      return { carga_id: cargo.id, versao: cargo.versao, entregas: [entrega] }
    },
    selectCargo: async ({ carga, where }) => {
      const { id, nome } = Object.assign(findCargo(carga), { where })
      return { carga_id: id, nome, where }
    },
    showSelection: async ({ carga }) => {
      const { id, nome, where } = findCargo(carga)
      const waiting = [
        { agente_id: '1', hostname: 'web-2.example.org', reason: 'next_poll', detail: null },
        { agente_id: '2', hostname: 'web-3.example.org', reason: 'nome_taken', detail: 'site' },
      ] as const
      const unmatched = [{ id: deliveryId, ...agent }]
      return {
        carga_id: id,
        nome,
        where,
        matching: 40,
        waiting_total: 2,
        waiting: [...waiting],
        unmatched_total: 1,
        unmatched,
      }
    },
    pruneCargo: async ({ carga }) => {
      const { id, nome } = findCargo(carga)
      const entregas = [{ id: deliveryId, ...agent }]
      return { carga_id: id, nome, entregas }
    },
    removeCargo: async ({ carga }) => findCargo(carga),
    showCargo: async ({ carga }) => ({
      ...findCargo(carga),
      statuses: STATUSES,
      entregas: 1,
      conteudo: null,
    }),
  }
}
