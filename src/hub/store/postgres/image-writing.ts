// Who writes an image in PostgreSQL: one hub at a time, by a lock that goes with its connection. So an image that is not whole, and is found by
// somebody who has the lock, nobody goes on with.

import { randomUUID } from 'node:crypto'
import type { ImageHead, ImageWriter } from '../journal-images.ts'
import { describeError } from '../../../platform/errors.ts'
import { StoreError } from '../store-error.ts'
import { toDatabaseFailure } from './database-failure.ts'
import { removeHalves } from './trim-journal.ts'
import { type DatabaseServers, WritableConnection } from './writable-connection.ts'

/** Frees the lock of a hub that is frozen, or gone without a word. */
const IDLE_TIMEOUT = '60s'
const TRY_LOCK = `SELECT pg_try_advisory_lock('imagem'::regclass::oid::bigint) AS tem`
const INSERT_IMAGE = `INSERT INTO imagem (id, numero, resumo, tipo, versao, bytes, sal, partes, diario_bytes)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`
const FINISH = `UPDATE imagem SET inteira_em = clock_timestamp()
  WHERE id = $1 AND inteira_em IS NULL
    AND partes = (SELECT count(*) FROM imagem_parte WHERE imagem = $1) RETURNING id`

/** Undefined while another one has the lock. */
export async function openAlone(servers: DatabaseServers): Promise<WritableConnection | undefined> {
  const connection = await WritableConnection.open(servers)
  try {
    await connection.query(`SET idle_session_timeout = '${IDLE_TIMEOUT}'`)
    const [row] = await connection.query<{ readonly tem: boolean }>(TRY_LOCK)
    if (row?.tem === true) return connection
  } catch (error) {
    connection.destroy()
    throw toDatabaseFailure(error)
  }
  connection.destroy()
  return undefined
}

/** The server may notice late that a connection ended; this frees the lock at once. Never rejects. */
export async function closeAlone(connection: WritableConnection): Promise<void> {
  if (!connection.isEnded) {
    await connection.query('SELECT pg_advisory_unlock_all()').catch(() => undefined)
  }
  connection.destroy()
}

/** On a connection that has the lock, and ends with the writer. */
export async function beginImage(
  connection: WritableConnection,
  { position, kind, version, bytes, salt }: ImageHead,
  pieces: number,
): Promise<ImageWriter> {
  await removeHalves(connection)
  const id = randomUUID()
  await connection.query(INSERT_IMAGE, [
    id,
    position.number,
    position.hash,
    kind,
    version,
    bytes,
    Buffer.from(salt, 'hex'),
    pieces,
    await weighRecords(connection, position.number),
  ])
  let next = 0
  return {
    append: async (piece) => {
      const insert = 'INSERT INTO imagem_parte (imagem, parte, selado) VALUES ($1, $2, $3)'
      await connection.query(insert, [id, next, piece]).catch(failed)
      next += 1
    },
    finish: async () => {
      await finish(connection, id).catch(failed)
    },
    close: () => closeAlone(connection),
  }
}

/** The bytes of all records up to this one. */
async function weighRecords(connection: WritableConnection, number: number): Promise<number> {
  if (number === 0) return 0
  const sql = 'SELECT bytes FROM diario WHERE numero = $1'
  const [row] = await connection.query<{ readonly bytes: string }>(sql, [number])
  if (row !== undefined) return Number(row.bytes)
  throw new StoreError('store_diverged', `the journal has no record ${number}`)
}

/** Its COMMIT may lose its reply: then the image is there, or it is one that is not whole. */
async function finish(connection: WritableConnection, id: string): Promise<void> {
  await connection.query('BEGIN')
  const finished = await connection.query(FINISH, [id])
  if (finished.length === 1 && (await connection.commit())) return
  throw new Error('the image lost pieces')
}

function failed(error: unknown): never {
  throw new StoreError('store_unavailable', `the image: ${describeError(error)}`, { cause: error })
}
