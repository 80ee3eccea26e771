// The images of the journal in PostgreSQL. Each act has a connection of its own, and each piece a transaction of its own, so no turn at the
// journal waits for an image: none of this locks the end of the journal. A connection that ends in the middle ends the image.

import type {
  ImageHead,
  ImageWriter,
  JournalImage,
  JournalImages,
  JournalSize,
} from '../journal-images.ts'
import { isSamePosition } from '../record-seal.ts'
import { StoreError } from '../store-error.ts'
import { toDatabaseFailure } from './database-failure.ts'
import { beginImage, closeAlone, openAlone } from './image-writing.ts'
import { type EndRow, readEnd, SELECT_END } from './journal-end.ts'
import { NEWEST_FIRST, trimImages, trimRecords } from './trim-journal.ts'
import { type DatabaseServers, WritableConnection } from './writable-connection.ts'

interface ImageRow {
  readonly id: string
  readonly numero: string
  readonly resumo: Buffer
  readonly tipo: string
  readonly versao: number
  readonly bytes: string
  readonly sal: Buffer
}

interface SizeRow extends EndRow {
  readonly imagem_numero: string | null
  readonly imagem_bytes: string
  readonly diario_bytes: string
  readonly idade_ms: number
}

/** More than there should ever be. */
const LISTED_MAX = 8
const SELECT_IMAGES = `SELECT id, numero, resumo, tipo, versao, bytes, sal FROM imagem ${NEWEST_FIRST} LIMIT ${LISTED_MAX}`
const SELECT_PIECE =
  'SELECT parte, selado FROM imagem_parte WHERE imagem = $1 AND parte > $2 ORDER BY parte LIMIT 1'
const SELECT_SIZE = `SELECT fim.cofre, fim.numero AS fim, fim.resumo, fim.bytes, fim.encerrado_em IS NOT NULL AS encerrado,
    nova.numero AS imagem_numero, nova.bytes AS imagem_bytes, nova.diario_bytes,
    (extract(epoch FROM clock_timestamp() - nova.inteira_em) * 1000)::float8 AS idade_ms
  FROM diario_fim AS fim
  LEFT JOIN (SELECT * FROM imagem ${NEWEST_FIRST} LIMIT 1) AS nova ON true
  WHERE fim.id = 1`

export class PostgresImages implements JournalImages {
  readonly #servers: DatabaseServers
  readonly #vaultId: string

  constructor(servers: DatabaseServers, vaultId: string) {
    this.#servers = servers
    this.#vaultId = vaultId
  }

  list(): Promise<readonly JournalImage[]> {
    return this.#connected(async (connection) => {
      await this.#readEnd(connection)
      const rows = await connection.query<ImageRow>(SELECT_IMAGES)
      return rows.map(toImage)
    })
  }

  async *read({ id }: Pick<JournalImage, 'id'>): AsyncGenerator<Buffer, void> {
    const connection = await WritableConnection.open(this.#servers)
    try {
      for (let last = -1; ;) {
        const found = connection.query<{ parte: number; selado: Buffer }>(SELECT_PIECE, [id, last])
        const [row] = await found
        if (row === undefined) return
        yield row.selado
        last = row.parte
      }
    } catch (error) {
      throw toDatabaseFailure(error)
    } finally {
      connection.destroy()
    }
  }

  async begin(head: ImageHead, pieces: number): Promise<ImageWriter | undefined> {
    const connection = await openAlone(this.#servers)
    if (connection === undefined) return undefined
    try {
      const { end } = await this.#readEnd(connection)
      if (head.position.number === end.number && !isSamePosition(head.position, end)) {
        throw new StoreError('store_diverged', 'the journal is another one')
      }
      return await beginImage(connection, head, pieces)
    } catch (error) {
      await closeAlone(connection)
      throw toDatabaseFailure(error)
    }
  }

  async trim(): Promise<void> {
    const connection = await openAlone(this.#servers)
    if (connection === undefined) return
    try {
      await trimImages(connection)
      await trimRecords(connection)
    } catch (error) {
      throw toDatabaseFailure(error)
    } finally {
      await closeAlone(connection)
    }
  }

  measure(): Promise<JournalSize> {
    return this.#connected(async (connection) => {
      const [row] = await connection.query<SizeRow>(SELECT_SIZE)
      const { end, bytes } = readEnd(row, this.#vaultId)
      return toSize(end.number, bytes, row)
    })
  }

  async #readEnd(connection: WritableConnection): Promise<ReturnType<typeof readEnd>> {
    const [row] = await connection.query<EndRow>(SELECT_END)
    return readEnd(row, this.#vaultId)
  }

  async #connected<T>(work: (connection: WritableConnection) => Promise<T>): Promise<T> {
    const connection = await WritableConnection.open(this.#servers)
    try {
      return await work(connection)
    } catch (error) {
      throw toDatabaseFailure(error)
    } finally {
      connection.destroy()
    }
  }
}

function toImage({ id, numero, resumo, tipo, versao, bytes, sal }: ImageRow): JournalImage {
  return {
    id,
    position: { number: Number(numero), hash: resumo },
    kind: tipo,
    version: versao,
    bytes: Number(bytes),
    salt: sal.toString('hex'),
  }
}

function toSize(end: number, bytes: number, row: SizeRow | undefined): JournalSize {
  if (row === undefined || row.imagem_numero === null) {
    return { end, newest: undefined, recordsSince: end, recordBytesSince: bytes }
  }
  const number = Number(row.imagem_numero)
  return {
    end,
    newest: { number, bytes: Number(row.imagem_bytes), ageMs: row.idade_ms },
    recordsSince: end - number,
    recordBytesSince: bytes - Number(row.diario_bytes),
  }
}
