// The end of the hash chain, where entries are added: one, or many by one statement.

import { formatTimestamp, GENESIS_HASH, hashEntry } from '../../../audit/hash-chain.ts'
import { invariant } from '../../../platform/errors.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import type { NewAuditEntry } from '../store.ts'
import { type EntryRow, fromEntry } from './rows.ts'
import type { SqlSession } from './sql-session.ts'

type EndOfChain = Pick<EntryRow, 'seq' | 'timestamp' | 'hash_atual'>

const COLUMNS = [
  'seq',
  'id',
  'agente_id',
  'tipo_evento',
  'payload',
  'entrega_id',
  'request_id',
  'timestamp',
  'hash_anterior',
  'hash_atual',
] as const

export function appendEntry(session: SqlSession, entry: NewAuditEntry): AuditEntry {
  const chained = chainEntry(entry, findEnd(session))
  session.run(
    `INSERT INTO eventos (${COLUMNS.join(', ')})
     VALUES (${COLUMNS.map((name) => `@${name}`).join(', ')})`,
    fromEntry(chained),
  )
  return chained
}

/** The last of them. */
export function appendEntries(session: SqlSession, entries: readonly NewAuditEntry[]): AuditEntry {
  let end = findEnd(session)
  let last: AuditEntry | undefined
  const rows = entries.map((entry) => {
    last = chainEntry(entry, end)
    end = fromEntry(last)
    return end
  })
  invariant(last !== undefined, 'there is something to append')
  session.run(
    `INSERT INTO eventos (${COLUMNS.join(', ')})
     SELECT ${COLUMNS.map((name) => `value ->> '${name}'`).join(', ')} FROM json_each(?)`,
    JSON.stringify(rows),
  )
  return last
}

function findEnd(session: SqlSession): EndOfChain | undefined {
  return session.get<EndOfChain>(
    'SELECT seq, timestamp, hash_atual FROM eventos ORDER BY seq DESC LIMIT 1',
  )
}

function chainEntry(entry: NewAuditEntry, last: EndOfChain | undefined): AuditEntry {
  const { at, ...content } = entry
  const now = formatTimestamp(at)
  const timestamp = last !== undefined && last.timestamp > now ? last.timestamp : now
  const previousHash = last?.hash_atual ?? GENESIS_HASH
  return {
    ...content,
    seq: (last?.seq ?? 0) + 1,
    timestamp,
    previousHash,
    hash: hashEntry(previousHash, entry.payloadText, timestamp),
  }
}
