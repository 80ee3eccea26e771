// A vault that was filled in minutes is the vault that a hub would have made in months.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { fillVault } from '../../fleet/vault-filler.ts'
import {
  type Connection,
  createDatabase,
  openReader,
} from '../../src/hub/store/sqlite/encrypted-database.ts'
import type { UnsealedVault } from '../../src/hub/vault/vault.ts'
import { Secret } from '../../src/platform/secret.ts'
import { initCheapVault } from '../support/cheap-vault.ts'
import { runSvcHere } from '../support/run-svc.ts'

const PASSPHRASE = 'of a filled vault'
const SIZES = { agents: 130, certificates: 500, entries: 2000 }
const NOW = new Date()

let directory: string
let vault: UnsealedVault
let connection: Connection

before(async () => {
  directory = await mkdtemp(join(tmpdir(), 'filled-'))
  vault = await initCheapVault(join(directory, 'vault'), new Secret(PASSPHRASE))
  fillVault(vault, SIZES, NOW, () => undefined)
  connection = openReader(vault.databasePath, vault.dataKey)
})
after(async () => {
  connection.close()
  await rm(directory, { recursive: true })
})

const rows = (sql: string): unknown[] => connection.prepare(sql).all()

test('it has as many rows as asked for', () => {
  for (const [table, count] of [
    ['agentes', SIZES.agents],
    ['agentes_cert', SIZES.agents],
    ['enrollment_tokens', SIZES.agents],
    ['entregas', SIZES.agents],
    ['certificados', SIZES.certificates],
    ['eventos', SIZES.entries],
  ]) {
    assert.deepEqual(rows(`SELECT count(*) AS count FROM ${table}`), [{ count }], String(table))
  }
})

test('it has every index, view and trigger of a new database, and they agree with the tables', async () => {
  const path = join(directory, 'new.enc')
  await createDatabase(path, vault.dataKey)
  const fresh = openReader(path, vault.dataKey)
  const schema = 'SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY type, name'
  assert.deepEqual(rows(schema), fresh.prepare(schema).all())
  fresh.close()
  assert.deepEqual(rows('PRAGMA integrity_check'), [{ integrity_check: 'ok' }])
  assert.deepEqual(rows('PRAGMA foreign_key_check'), [])
  assert.deepEqual(rows('PRAGMA journal_mode'), [{ journal_mode: 'wal' }])
})

test('the certificates in use are those that the views name, none is late, and each sort is there', () => {
  const named = `SELECT seq FROM identidades_em_uso WHERE seq IS NOT NULL
    UNION ALL SELECT seq FROM entregas_em_uso WHERE seq IS NOT NULL ORDER BY seq`
  const inUse = rows('SELECT certificado AS seq FROM validades ORDER BY seq')
  assert.deepEqual(inUse, rows(named))
  assert.ok(inUse.length > SIZES.agents)
  const late = `SELECT * FROM validades
    WHERE not_after - (not_after - not_before) / 6 <= ${NOW.getTime()}`
  assert.deepEqual(rows(late), [])
  assert.deepEqual(rows('SELECT count(*) AS count FROM agentes WHERE revoked_at IS NOT NULL'), [
    { count: 1 },
  ])
})

test('svc verifies its log, and lists its agents', async () => {
  const environment = { SVC_VAULT_ROOT: vault.root, SVC_MASTER_PASSPHRASE: PASSPHRASE }
  const svc = async (...args: string[]): Promise<Record<string, unknown[]>> => {
    const { status, stdout, stderr } = await runSvcHere([...args, '--json'], environment)
    assert.deepEqual([status, stderr], [0, ''])
    return JSON.parse(stdout) as Record<string, unknown[]>
  }
  const { ok, count } = await svc('evento', 'list', '--verify', '--limit', '1')
  assert.deepEqual({ ok, count }, { ok: true, count: SIZES.entries })
  assert.equal((await svc('agente', 'list'))['agentes']?.length, SIZES.agents)
})
