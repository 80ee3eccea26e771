// A journal ends when its vault is moved out of the database. Its end stays, so that the hub that moved it can tell that it did, and any other that it
// is too late; the records and images go. docs/protocol.md DBS-13.

import type { JournalPosition } from '../journal.ts'
import { isSamePosition } from '../record-seal.ts'
import { StoreError } from '../store-error.ts'
import { EMPTY_JOURNAL } from './create-journal.ts'
import { toDatabaseFailure } from './database-failure.ts'
import { type EndRow, readEnd, SELECT_END } from './journal-end.ts'
import { type DatabaseServers, WritableConnection } from './writable-connection.ts'

/** Throws StoreError `store_unavailable` when somebody has appended to it since. May be called again. */
export async function endJournal(
  servers: DatabaseServers,
  vaultId: string,
  position: JournalPosition,
): Promise<void> {
  const connection = await WritableConnection.open(servers)
  try {
    await connection.query('BEGIN')
    const [row] = await connection.queryLocking<EndRow>(`${SELECT_END} FOR UPDATE`)
    if (!isSamePosition(readEnd(row, vaultId).end, position)) {
      throw new StoreError('store_unavailable', 'another hub has written since', {
        hint: 'stop all other hubs, and run the command again',
      })
    }
    await connection.query('UPDATE diario_fim SET encerrado_em = clock_timestamp() WHERE id = 1')
    await connection.query(EMPTY_JOURNAL)
    if (await connection.commitRemoval()) return
    throw new StoreError('store_unavailable', 'the database refused the end of the journal')
  } catch (error) {
    throw toDatabaseFailure(error)
  } finally {
    connection.destroy()
  }
}

/** Whether it ended with this record. Throws StoreError `store_diverged` when it ended with another one. */
export async function isEndedAt(
  servers: DatabaseServers,
  vaultId: string,
  position: JournalPosition,
): Promise<boolean> {
  const connection = await WritableConnection.open(servers)
  try {
    const [row] = await connection.query<EndRow>(SELECT_END)
    if (row?.encerrado !== true) return false
    const end = { number: Number(row.fim), hash: row.resumo }
    if (row.cofre === vaultId && isSamePosition(end, position)) return true
    readEnd(row, vaultId)
    return false
  } finally {
    connection.destroy()
  }
}
