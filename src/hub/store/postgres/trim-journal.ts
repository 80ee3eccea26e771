// What goes from the journal, a little in each transaction: images that are not whole, images beyond the two newest, and records that are older
// than both of these. A hub that does this has the lock of the hub that writes an image.

import type { WritableConnection } from './writable-connection.ts'

/** Of the whole ones. */
export const NEWEST_FIRST = 'WHERE inteira_em IS NOT NULL ORDER BY numero DESC, inteira_em DESC'

const KEPT_IMAGES = 2
/** A piece has 1 MiB. */
const PIECES_AT_ONCE = 16
const RECORDS_AT_ONCE = 100

/** One that is being removed is whole no more. */
const GIVE_UP_IMAGES = `UPDATE imagem SET inteira_em = NULL WHERE inteira_em IS NOT NULL
  AND id NOT IN (SELECT id FROM imagem ${NEWEST_FIRST} LIMIT ${KEPT_IMAGES})`
const DELETE_PIECES = `DELETE FROM imagem_parte WHERE (imagem, parte) IN (
    SELECT imagem, parte FROM imagem_parte
    WHERE imagem IN (SELECT id FROM imagem WHERE inteira_em IS NULL) LIMIT ${PIECES_AT_ONCE}
  ) RETURNING parte`
/** The record of an image stays: its weight is that of all before it. */
const DELETE_RECORDS = `DELETE FROM diario WHERE numero IN (
    SELECT numero FROM diario
    WHERE numero < (SELECT numero FROM imagem ${NEWEST_FIRST} OFFSET ${KEPT_IMAGES - 1} LIMIT 1)
    ORDER BY numero LIMIT ${RECORDS_AT_ONCE}
  ) RETURNING numero`

export async function removeHalves(connection: WritableConnection): Promise<void> {
  await repeat(connection, DELETE_PIECES)
  await connection.query('DELETE FROM imagem WHERE inteira_em IS NULL')
}

export async function trimImages(connection: WritableConnection): Promise<void> {
  await connection.query(GIVE_UP_IMAGES)
  await removeHalves(connection)
}

export async function trimRecords(connection: WritableConnection): Promise<void> {
  await repeat(connection, DELETE_RECORDS)
}

/** Until there is nothing left to do. */
async function repeat(connection: WritableConnection, sql: string): Promise<void> {
  for (;;) {
    const done = await connection.query(sql)
    if (done.length === 0) return
  }
}
