// What goes from the journal, a little in each transaction: images that are not whole, images beyond the two newest, and records that are older
// than both of these. A hub that does this has the lock of the hub that writes an image.

import type { WritableConnection } from './writable-connection.ts'

/** Of the whole ones. */
export const NEWEST_FIRST = 'WHERE inteira_em IS NOT NULL ORDER BY numero DESC, inteira_em DESC'

const KEPT_IMAGES = 2
/** A piece has 1 MiB. */
const PIECES_AT_ONCE = 16
const RECORDS_AT_ONCE = 1000
const RECORD_BYTES_AT_ONCE = 16 * 1024 * 1024

/** One that is being removed is whole no more. */
const GIVE_UP_IMAGES = `UPDATE imagem SET inteira_em = NULL WHERE inteira_em IS NOT NULL
  AND id NOT IN (SELECT id FROM imagem ${NEWEST_FIRST} LIMIT ${KEPT_IMAGES})`
const DELETE_PIECES = `DELETE FROM imagem_parte WHERE (imagem, parte) IN (
    SELECT imagem, parte FROM imagem_parte
    WHERE imagem IN (SELECT id FROM imagem WHERE inteira_em IS NULL) LIMIT ${PIECES_AT_ONCE}
  ) RETURNING parte`
/**
 * From a number on, for what was deleted before is in the way for a while. The record of an image stays: its weight is that of all before it.
 */
const DELETE_RECORDS = `DELETE FROM diario WHERE numero IN (
    SELECT numero FROM (
      SELECT numero, bytes - min(bytes) OVER () AS peso FROM diario
      WHERE numero > $1
        AND numero < (SELECT numero FROM imagem ${NEWEST_FIRST} OFFSET ${KEPT_IMAGES - 1} LIMIT 1)
      ORDER BY numero LIMIT ${RECORDS_AT_ONCE}
    ) AS velhos WHERE peso <= ${RECORD_BYTES_AT_ONCE}
  ) RETURNING numero`

export async function removeHalves(connection: WritableConnection): Promise<void> {
  while ((await connection.query(DELETE_PIECES)).length > 0);
  await connection.query('DELETE FROM imagem WHERE inteira_em IS NULL')
}

export async function trimImages(connection: WritableConnection): Promise<void> {
  await connection.query(GIVE_UP_IMAGES)
  await removeHalves(connection)
}

export async function trimRecords(connection: WritableConnection): Promise<void> {
  for (let last = 0; ;) {
    const rows = await connection.query<{ readonly numero: string }>(DELETE_RECORDS, [last])
    if (rows.length === 0) return
    last = Math.max(...rows.map(({ numero }) => Number(numero)))
  }
}
