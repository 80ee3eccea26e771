// The row that has where the journal ends, and whose it is.

import type { JournalPosition } from '../journal.ts'
import { StoreError } from '../store-error.ts'

export interface JournalEnd {
  readonly end: JournalPosition
  /** Of all sealed records that there ever were. */
  readonly bytes: number
}

/** Numbers come as text: they could be larger than those of JavaScript. */
export interface EndRow {
  readonly cofre: string
  readonly fim: string
  readonly resumo: Buffer
  readonly bytes: string
  readonly encerrado: boolean
}

export const SELECT_END = `SELECT cofre, numero AS fim, resumo, bytes, encerrado_em IS NOT NULL AS encerrado
  FROM diario_fim WHERE id = 1`

/** Throws StoreError `store_diverged` for the journal of another vault, and for one that has ended. */
export function readEnd(row: EndRow | undefined, vaultId: string): JournalEnd {
  if (row?.cofre === vaultId && row.encerrado) {
    throw new StoreError('store_diverged', 'the vault was moved out of the database')
  }
  if (row?.cofre === vaultId) {
    return { end: { number: Number(row.fim), hash: row.resumo }, bytes: Number(row.bytes) }
  }
  const whose = row === undefined ? 'no vault' : `vault ${row.cofre}`
  throw new StoreError(
    'store_diverged',
    `the database belongs to ${whose}, config.json to vault ${vaultId}`,
  )
}
