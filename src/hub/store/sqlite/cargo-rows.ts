import type { Cargo, CargoContent } from '../../domain/cargo.ts'
import type { Delivery } from '../../domain/delivery.ts'
import type { DeliveryWithCargo } from '../store.ts'
import { type Instant, fromDate, toDate } from './instants.ts'

/** A step of migrations.ts. */
export const CARGO_SELECTORS = `
-- The selector that the carga belongs to; null for a carga of named hosts.
ALTER TABLE cargas ADD COLUMN seletor TEXT;
CREATE INDEX cargas_com_seletor ON cargas (ordem) WHERE seletor IS NOT NULL AND removed_at IS NULL;
`

export const SELECTED_CARGOES = `SELECT * FROM cargas INDEXED BY cargas_com_seletor
  WHERE seletor IS NOT NULL AND removed_at IS NULL AND ordem > 0 ORDER BY ordem`

export interface CargoRow {
  id: Cargo['id']
  tipo: Cargo['kind']
  nome: Cargo['name']
  versao: number
  sans: string
  seletor: string | null
  created_at: Instant
  removed_at: Instant | null
}

export interface ContentRow {
  sha256: string
  escrow: string
  conteudo: Uint8Array
  modo: number | null
}

export interface DeliveryRow {
  id: Delivery['id']
  carga_id: Delivery['cargoId']
  agente_id: Delivery['agentId']
  status: Delivery['status']
  updated_at: Instant
  erro: string | null
  versao: number
  sans: string
  substituida_por: Delivery['id'] | null
}

export interface DeliveryWithCargoRow extends DeliveryRow {
  hostname: DeliveryWithCargo['hostname']
  carga_tipo: Cargo['kind']
  carga_nome: Cargo['name']
  carga_versao: number
  carga_sans: string
  carga_seletor: string | null
  carga_created_at: Instant
  carga_removed_at: Instant | null
}

export function toCargo(row: CargoRow): Cargo {
  return {
    id: row.id,
    kind: row.tipo,
    name: row.nome,
    version: row.versao,
    sans: JSON.parse(row.sans) as string[],
    where: row.seletor,
    createdAt: new Date(row.created_at),
    removedAt: toDate(row.removed_at),
  }
}

export function fromCargo(cargo: Cargo): CargoRow {
  return {
    id: cargo.id,
    tipo: cargo.kind,
    nome: cargo.name,
    versao: cargo.version,
    sans: JSON.stringify(cargo.sans),
    seletor: cargo.where,
    created_at: cargo.createdAt.getTime(),
    removed_at: fromDate(cargo.removedAt),
  }
}

export function toContent(row: ContentRow): CargoContent {
  return {
    bytes: row.conteudo,
    sha256: row.sha256,
    escrow: JSON.parse(row.escrow) as CargoContent['escrow'],
    ...(row.modo === null ? {} : { mode: row.modo }),
  }
}

export function toDelivery(row: DeliveryRow): Delivery {
  return {
    id: row.id,
    cargoId: row.carga_id,
    agentId: row.agente_id,
    status: row.status,
    updatedAt: new Date(row.updated_at),
    error: row.erro,
    version: row.versao,
    sans: JSON.parse(row.sans) as string[],
    replacedBy: row.substituida_por,
  }
}

export function fromDelivery(delivery: Delivery): DeliveryRow {
  return {
    id: delivery.id,
    carga_id: delivery.cargoId,
    agente_id: delivery.agentId,
    status: delivery.status,
    updated_at: delivery.updatedAt.getTime(),
    erro: delivery.error,
    versao: delivery.version,
    sans: JSON.stringify(delivery.sans),
    substituida_por: delivery.replacedBy,
  }
}

export function toDeliveryWithCargo(row: DeliveryWithCargoRow): DeliveryWithCargo {
  const cargo = toCargo({
    id: row.carga_id,
    tipo: row.carga_tipo,
    nome: row.carga_nome,
    versao: row.carga_versao,
    sans: row.carga_sans,
    seletor: row.carga_seletor,
    created_at: row.carga_created_at,
    removed_at: row.carga_removed_at,
  })
  return { ...toDelivery(row), cargo, hostname: row.hostname }
}
