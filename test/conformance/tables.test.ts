// The tables that others may rely on: docs/protocol.md RES.

import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { MIGRATIONS } from '../../src/hub/store/sqlite/migrations.ts'

const database = new DatabaseSync(':memory:')
for (const step of MIGRATIONS) database.exec(step)

const TABLES: Readonly<Record<string, readonly [string, readonly string[]]>> = {
  '[RES-1]': ['agentes', ['id', 'hostname', 'role', 'last_seen_at', 'revoked_at']],
  '[RES-1] apart:': ['agentes_cert', ['agente_id', 'cert']],
  '[RES-2]': [
    'enrollment_tokens',
    ['token_hash', 'consumed_at', 'expires_at', 'expected_hostname', 'expected_role'],
  ],
  '[RES-3]': ['cargas', ['id', 'tipo', 'nome', 'versao']],
  '[RES-4]': ['entregas', ['id', 'carga_id', 'agente_id', 'status']],
  '[RES-5]': ['politicas', []],
  '[RES-6]': [
    'eventos',
    'id tipo_evento payload entrega_id request_id hash_atual hash_anterior timestamp'.split(' '),
  ],
}

for (const [id, [table, expected]] of Object.entries(TABLES)) {
  test(`${id} the table ${table} has its columns`, () => {
    const rows = database.prepare(`SELECT name FROM pragma_table_info('${table}')`).all()
    const columns = new Set(rows.map(({ name }) => name))
    assert.ok(columns.size > 0)
    for (const column of expected) assert.ok(columns.has(column), column)
  })
}

test('[RES-5] the table politicas is empty', () => {
  assert.deepEqual(database.prepare('SELECT * FROM politicas').all(), [])
})
