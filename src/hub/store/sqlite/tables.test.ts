// The columns that others may rely on, asked of the database itself: docs/protocol.md RES.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { Secret } from '../../../platform/secret.ts'
import { type Connection, createDatabase, openReader, openWriter } from './encrypted-database.ts'

describe('the tables', () => {
  const dataKey = new Secret(randomBytes(32))
  let directory: string
  let connection: Connection
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'tables-'))
    const path = join(directory, 'db.enc')
    await createDatabase(path, dataKey)
    openWriter(path, dataKey).close()
    connection = openReader(path, dataKey)
  })
  after(async () => {
    connection.close()
    await rm(directory, { recursive: true })
  })

  /** Column → whether it may be null. */
  const columnsOf = (table: string): Record<string, boolean> => {
    const rows = connection.prepare(`PRAGMA table_info(${table})`).all() as {
      name: string
      notnull: number
    }[]
    return Object.fromEntries(rows.map(({ name, notnull }) => [name, notnull === 0]))
  }

  const promised: [id: string, table: string, columns: Readonly<Record<string, boolean>>][] = [
    [
      'RES-1',
      'agentes',
      {
        id: false,
        hostname: false,
        role: false,
        last_seen_at: true,
        revoked_at: true,
      },
    ],
    [
      'RES-2',
      'enrollment_tokens',
      {
        token_hash: false,
        consumed_at: true,
        expires_at: false,
        expected_hostname: false,
        expected_role: false,
        labels: true,
      },
    ],
    ['RES-16', 'agentes_labels', { agente_id: false, chave: false, valor: false, hostname: false }],
    ['RES-3', 'cargas', { id: false, tipo: false, nome: false, versao: false }],
    ['RES-4', 'entregas', { id: false, carga_id: false, agente_id: false, status: false }],
    [
      'RES-6',
      'eventos',
      {
        id: false,
        tipo_evento: false,
        payload: false,
        entrega_id: true,
        request_id: true,
        hash_atual: false,
        hash_anterior: false,
        timestamp: false,
      },
    ],
    [
      'RES-7',
      'certificados',
      {
        serial: false,
        sha256: false,
        purpose: false,
        agente_id: false,
        not_before: false,
        not_after: false,
      },
    ],
    [
      'RES-5',
      'politicas',
      {
        role: false,
        nome: false,
        token_ttl_max: true,
        cert_ttl: true,
        sans_permitidos: false,
        cargas_automaticas: false,
      },
    ],
    ['RES-1', 'agentes_recipient', { agente_id: false, recipient: false }],
    ['RES-14', 'raizes', { roots: false, created_at: false }],
    [
      'RES-14',
      'agentes_raizes',
      { agente_id: false, numero: true, fingerprints: false, pinned: true, erro: true },
    ],
    [
      'RES-10',
      'cargas_conteudo',
      { carga_id: false, sha256: false, escrow: false, conteudo: false },
    ],
  ]
  for (const [id, table, columns] of promised) {
    test(`[${id}] ${table} has the columns that others may rely on`, () => {
      const found = columnsOf(table)
      for (const [name, isNullable] of Object.entries(columns)) {
        assert.equal(found[name], isNullable, `${name}: nullable ${found[name]}`)
      }
    })
  }

  test('[RES-5] politicas is empty at first', () => {
    assert.deepEqual(connection.prepare('SELECT * FROM politicas').all(), [])
  })
})
