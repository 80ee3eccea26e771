// What somebody who holds a vault and its passphrase can do to its log by SQL: one change each.

import { EMPTY_FRONTIER, growTree } from '../../../src/audit/merkle-tree.ts'
import { hashEntry } from '../../../src/audit/hash-chain.ts'
import { formatCheckpoint } from '../../../src/audit/checkpoint.ts'
import { rootOf } from '../../../src/audit/merkle-tree.ts'
import { formatRecord, hashRecord } from '../../../src/audit/record.ts'
import { noteSigner, signNote } from '../../../src/audit/signed-note.ts'
import { KEPT_LEVEL_MIN } from '../../../src/hub/domain/log-tree.ts'
import { type Connection, openWriter } from '../../../src/hub/store/sqlite/encrypted-database.ts'
import { type EntryRow, toEntry } from '../../../src/hub/store/sqlite/entries.ts'
import { openAuditHeadFile } from '../../../src/hub/vault/audit-head.ts'
import { vaultFiles } from '../../../src/hub/vault/vault-files.ts'
import type { UnsealedVault } from '../../../src/hub/vault/vault.ts'
import { createPrivateKey } from 'node:crypto'
import type { SampleLog } from './sample-log.ts'

export interface Mutation {
  readonly name: string
  readonly table: 'eventos' | 'arvore' | 'arvore_nos'
  /** Whether all that the vault's keys can make again is made again: chain, tree, signature, head. */
  readonly isMadeAgain: boolean
  readonly sql: string
}

const ENTRY_TEXTS = ['id', 'tipo_evento', 'payload', 'timestamp', 'hash_anterior', 'hash_atual']
const ENTRY_NULLABLES = ['agente_id', 'entrega_id', 'request_id']
/** What is made again is no change. */
const CHAIN = new Set(['hash_anterior', 'hash_atual'])
const TREE_CHANGES: Readonly<Record<string, string>> = {
  chave: `chave = CAST(substr(chave, 1, length(chave) - 1) || x'00' AS BLOB)`,
  'chave, no key': `chave = x'00'`,
  epoca: 'epoca = epoca + 1',
  origem: `origem = origem || '/2'`,
  'tamanho, more': 'tamanho = tamanho + 1',
  'tamanho, less': 'tamanho = tamanho - 1',
  picos: `picos = CAST(x'00' || substr(picos, 2) AS BLOB)`,
  'picos, fewer': 'picos = substr(picos, 33)',
  'checkpoint, size': `checkpoint = replace(checkpoint, char(10) || tamanho || char(10), char(10) || (tamanho + 1) || char(10))`,
  'checkpoint, none': `checkpoint = ''`,
  cossinado: `cossinado = 'x'`,
  epocas: `epocas = '["x"]'`,
  'epocas, no text': `epocas = '[1]'`,
}

/** All that are tried, each row and column. */
export function listMutations({ entries, keptEntries }: SampleLog): readonly Mutation[] {
  const mutations: Mutation[] = []
  const add = (table: Mutation['table'], what: string, sql: string, isMadeAgain = false): void =>
    void mutations.push({ name: `${table}: ${what}`, table, sql, isMadeAgain })
  const addBoth = (seq: number, what: string, sql: string): void => {
    add('eventos', what, sql)
    // Whoever has the keys of the vault can rewrite what no kept checkpoint covers.
    if (seq <= keptEntries) add('eventos', `${what}, all made again`, sql, true)
  }
  for (let seq = 1; seq <= entries; seq += 1) {
    for (const column of [...ENTRY_TEXTS, ...ENTRY_NULLABLES]) {
      const sql = `UPDATE eventos SET ${column} = ${otherText(column)} WHERE seq = ${seq}`
      if (CHAIN.has(column)) add('eventos', `${column} of ${seq}`, sql)
      else addBoth(seq, `${column} of ${seq}`, sql)
    }
    add('eventos', `seq of ${seq}`, `UPDATE eventos SET seq = seq + ${entries} WHERE seq = ${seq}`)
    addBoth(seq, `${seq} is gone`, `DELETE FROM eventos WHERE seq = ${seq}`)
    addBoth(seq, `all from ${seq} are gone`, `DELETE FROM eventos WHERE seq >= ${seq}`)
    addBoth(seq, `one more before ${seq}`, insertBefore(seq, entries))
    if (seq < entries) addBoth(seq, `${seq} and the next are swapped`, swapWithNext(seq, entries))
  }
  for (const [what, set] of Object.entries(TREE_CHANGES))
    add('arvore', what, `UPDATE arvore SET ${set}`)
  add('arvore', 'is gone', 'DELETE FROM arvore')
  for (let level = KEPT_LEVEL_MIN; 2 ** level <= entries; level += 1) {
    for (let index = 0; (index + 1) * 2 ** level <= entries; index += 1) {
      const which = `nivel = ${level} AND indice = ${index}`
      for (const set of ['nivel = nivel + 20', 'indice = indice + 1000', 'resumo = zeroblob(32)']) {
        add('arvore_nos', `${which}: ${set}`, `UPDATE arvore_nos SET ${set} WHERE ${which}`)
      }
      add('arvore_nos', `${which} is gone`, `DELETE FROM arvore_nos WHERE ${which}`)
    }
  }
  return mutations
}

/** As long as before where the table asks for that; null for a text, and a text for null. */
function otherText(column: string): string {
  if (ENTRY_NULLABLES.includes(column)) return `iif(${column} IS NULL, 'x-' || seq, NULL)`
  if (column === 'payload') return `payload || ' '`
  if (column === 'timestamp') return `replace(timestamp, 'Z', '9')`
  return `iif(substr(${column}, 1, 1) = '0', '1', '0') || substr(${column}, 2)`
}

const shift = (from: number, by: number): string =>
  `UPDATE eventos SET seq = seq + ${by} WHERE seq >= ${from}`

function insertBefore(seq: number, entries: number): string {
  return `${shift(seq, 2 * entries)}; ${shift(2 * entries, 1 - 2 * entries)};
    INSERT INTO eventos SELECT ${seq}, 'added', agente_id, tipo_evento, payload, entrega_id, 'added', timestamp, hash_anterior, hash_atual
    FROM eventos WHERE seq = ${seq + 1}`
}

function swapWithNext(seq: number, entries: number): string {
  const move = (from: number, to: number): string =>
    `UPDATE eventos SET seq = ${to} WHERE seq = ${from}`
  return [move(seq, 2 * entries), move(seq + 1, seq), move(2 * entries, seq + 1)].join('; ')
}

/** Changes the database of the vault, whose hub is stopped, and nothing else that tells. */
export function applyMutation(vault: UnsealedVault, { sql, isMadeAgain }: Mutation): void {
  const connection = openWriter(vault.databasePath, vault.dataKey)
  try {
    const triggers = connection
      .prepare(`SELECT name, sql FROM sqlite_master WHERE type = 'trigger'`)
      .all() as { name: string; sql: string }[]
    for (const { name } of triggers) connection.exec(`DROP TRIGGER ${name}`)
    connection.exec(sql)
    if (isMadeAgain) makeAgain(connection, vault)
    for (const trigger of triggers) connection.exec(trigger.sql)
  } finally {
    connection.close()
  }
}

/** With the keys of the vault everything fits again: only what somebody else kept does not. */
function makeAgain(connection: Connection, vault: UnsealedVault): void {
  const rows = connection.prepare('SELECT * FROM eventos ORDER BY seq').all() as EntryRow[]
  connection.exec('DELETE FROM eventos')
  const insert = connection.prepare(
    `INSERT INTO eventos VALUES (${Array(10).fill('?').join(', ')})`,
  )
  let previous = '0'.repeat(64)
  const leaves = rows.map((row, at) => {
    const hash_atual = hashEntry(previous, row.payload, row.timestamp)
    const made = { ...row, seq: at + 1, hash_anterior: previous, hash_atual }
    insert.run(...Object.values(made))
    previous = hash_atual
    return hashRecord(formatRecord(toEntry(made)))
  })
  const { frontier, filled } = growTree(EMPTY_FRONTIER, leaves)
  connection.exec('DELETE FROM arvore_nos')
  const node = connection.prepare('INSERT INTO arvore_nos VALUES (?, ?, ?)')
  for (const { level, index, hash } of filled) {
    if (level >= KEPT_LEVEL_MIN) node.run(level, index, hash)
  }
  const tree = connection.prepare('SELECT chave, origem FROM arvore').get() as {
    chave: Buffer
    origem: string
  }
  const privateKey = createPrivateKey({ key: tree.chave, format: 'der', type: 'pkcs8' })
  const { size, peaks } = frontier
  const text = formatCheckpoint({ origin: tree.origem, size, root: rootOf(frontier) })
  connection
    .prepare('UPDATE arvore SET tamanho = ?, picos = ?, checkpoint = ?')
    .run(size, Buffer.concat(peaks), signNote(text, noteSigner(tree.origem, privateKey)))
  const head = openAuditHeadFile(vaultFiles(vault.root).auditHead, vault.dataKey)
  head.reset({ seq: size, hash: previous })
  head.close()
}
