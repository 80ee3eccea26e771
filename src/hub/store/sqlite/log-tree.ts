import { HASH_BYTES, type NodeId, type TreeNode } from '../../../audit/merkle-tree.ts'
import { Secret } from '../../../platform/secret.ts'
import type { LogTree } from '../../domain/log-tree.ts'
import { StoreError } from '../store-error.ts'
import type { SqlSession } from './sql-session.ts'

interface LogTreeRow {
  chave: Buffer
  epoca: number
  origem: string
  tamanho: number
  picos: Buffer
  checkpoint: string
  epocas: string
  cossinado: string | null
}

export function selectLogTree(session: SqlSession): LogTree | undefined {
  const row = session.get<LogTreeRow>('SELECT * FROM arvore WHERE id = 1')
  if (row === undefined) return undefined
  const { chave, epoca: epoch, origem: origin, tamanho: size, picos, checkpoint } = row
  const peaks = Array.from({ length: picos.length / HASH_BYTES }, (_, at) =>
    Buffer.from(picos.subarray(at * HASH_BYTES, (at + 1) * HASH_BYTES)),
  )
  return {
    privateKeyDer: new Secret(chave),
    epoch,
    origin,
    frontier: { size, peaks },
    checkpoint,
    epochs: (JSON.parse(row.epocas) as unknown[]).map(String),
    ...(row.cossinado !== null && { cosigned: row.cossinado }),
  }
}

/** In the order of `ids`. */
export function selectLogNodes(session: SqlSession, ids: readonly NodeId[]): Buffer[] {
  return ids.map(({ level, index }) => {
    const sql = 'SELECT resumo FROM arvore_nos WHERE nivel = ? AND indice = ?'
    const row = session.get<{ resumo: Buffer }>(sql, level, index)
    if (row !== undefined) return row.resumo
    const what = `subtree ${index} of ${2 ** level} entries`
    throw new StoreError('store_corrupt', `${what} is missing in the log’s tree`)
  })
}

/** In the place of one from before an accepted loss, too. */
const PUT_NODE = `INSERT INTO arvore_nos VALUES (?, ?, ?)
  ON CONFLICT (nivel, indice) DO UPDATE SET resumo = excluded.resumo`

/** Of no agent, and nothing that a version counts: it happens every second. */
export function putLogTree(session: SqlSession, tree: LogTree, filled: readonly TreeNode[]): void {
  const { privateKeyDer, epoch, origin, frontier, checkpoint, epochs, cosigned = null } = tree
  for (const { level, index, hash } of filled) {
    session.runQuietly(PUT_NODE, level, index, hash)
  }
  session.runQuietly(
    'INSERT OR REPLACE INTO arvore VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)',
    privateKeyDer.reveal(),
    epoch,
    origin,
    frontier.size,
    Buffer.concat(frontier.peaks),
    checkpoint,
    JSON.stringify(epochs),
    cosigned,
  )
}
