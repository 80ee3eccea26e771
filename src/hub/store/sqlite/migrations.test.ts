// Each step is applied to a database of the format before it, with rows in it. Whole vaults of released versions are
// opened by test/conformance/released-vaults.test.ts.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import Database from 'better-sqlite3-multiple-ciphers'
import type { AgentId, TokenHash } from '../../../protocol/identifiers.ts'
import { countLosing } from '../../service/admin/summary/count-losing.ts'
import { SELECTIONS_BY_CARGO } from './entry-subjects-tables.ts'
import { MIGRATIONS } from './migrations.ts'
import { NOTABLE_ENTRIES } from './notable-entries-tables.ts'
import { SqlSession } from './sql-session.ts'
import { newEntry } from '../../../../test/store/store-samples.ts'
import { SqliteReader } from './sqlite-reader.ts'
import { SqliteWriter } from './sqlite-writer.ts'
import { appendEntry } from '../../service/append-entries.ts'

const HASH = '0'.repeat(64)

describe('a database of an older format keeps its rows when it is brought forward', () => {
  test('[VLT-16] of the first: no token has ended', () => {
    using database = new OldDatabase(1)
    database.connection.exec(`INSERT INTO enrollment_tokens
      (token_hash, expected_hostname, expected_role, created_at, expires_at, reenroll)
      VALUES ('${HASH}', 'web-1', 'web', 1, 2, 0)`)
    database.bringForward()
    assert.deepEqual(database.all('SELECT expected_hostname, ended_at FROM enrollment_tokens'), [
      { expected_hostname: 'web-1', ended_at: null },
    ])
  })

  test('[VLT-16] of the second: cargoes have no content, agents no recipient', () => {
    using database = new OldDatabase(2)
    database.connection.exec(`INSERT INTO cargas (id, tipo, nome, versao, sans, created_at)
      VALUES ('c-1', 'csr_cert', 'site', 1, '[]', 1)`)
    database.bringForward()
    assert.deepEqual(database.all('SELECT nome FROM cargas'), [{ nome: 'site' }])
    assert.deepEqual(database.all('SELECT * FROM cargas_conteudo'), [])
    assert.deepEqual(database.all('SELECT * FROM agentes_recipient'), [])
  })

  test('[VLT-16] of the third: sealed files have no mode, nothing is asked of agents', () => {
    using database = new OldDatabase(3)
    database.connection.exec(`
      INSERT INTO cargas (id, tipo, nome, versao, sans, created_at)
        VALUES ('c-1', 'selado', 'site', 1, '[]', 1);
      INSERT INTO cargas_conteudo (carga_id, sha256, escrow, conteudo)
        VALUES ('c-1', '${HASH}', '[]', x'00')`)
    database.bringForward()
    assert.deepEqual(database.all('SELECT length(conteudo) AS bytes, modo FROM cargas_conteudo'), [
      { bytes: 1, modo: null },
    ])
    assert.deepEqual(database.all('SELECT * FROM pedidos'), [])
  })

  test('[VLT-16] [REV-1] of the fourth: what was revoked and has not expired waits for the CA', async () => {
    using database = new OldDatabase(4)
    database.connection.exec(`
      INSERT INTO agentes (id, hostname, role, token_hash, created_at, revoked_at)
        VALUES ('an-id', 'web-1', 'web', '${'f'.repeat(64)}', 1, 5);
      INSERT INTO certificados (sha256, serial, agente_id, purpose, not_before, not_after, revoked_at)
        VALUES ('${'1'.repeat(64)}', '0a', 'an-id', 'identity', 1, 1000, 5),
          ('${'2'.repeat(64)}', '0b', 'an-id', 'identity', 1, 10, 5),
          ('${'3'.repeat(64)}', '0c', 'an-id', 'identity', 1, 1000, NULL)`)
    database.bringForward()
    const page = { now: new Date(500), limit: 10, isRefusedIncluded: true }
    const session = new SqlSession(database.connection)
    const waiting = await new SqliteReader(() => session).listCaRevocations(page)
    assert.deepEqual(
      waiting?.map(({ serial, reason }) => [serial, reason]),
      [['0a', null]],
    )
  })

  test('[VLT-16] of the sixth: the certificates of live hosts are in use', () => {
    using database = new OldDatabase(6)
    database.connection.exec(`
      INSERT INTO agentes (id, hostname, role, token_hash, created_at)
        VALUES ('a', 'web-1', 'web', 't', 1);
      INSERT INTO certificados (sha256, serial, agente_id, purpose, not_before, not_after)
        VALUES ('${'1'.repeat(64)}', '01', 'a', 'identity', 1, 99)`)
    database.bringForward()
    assert.deepEqual(database.all('SELECT agente_id, not_after FROM validades'), [
      { agente_id: 'a', not_after: 99 },
    ])
  })

  test('[VLT-16] [TRU-10] of the seventh: there is no set of roots, and nobody knows where certificates lead', () => {
    using database = new OldDatabase(7)
    database.connection.exec(`
      INSERT INTO agentes (id, hostname, role, token_hash, created_at)
        VALUES ('an-id', 'web-1', 'web', '${'f'.repeat(64)}', 1);
      INSERT INTO certificados (sha256, serial, agente_id, purpose, not_before, not_after)
        VALUES ('${'1'.repeat(64)}', '0a', 'an-id', 'identity', 1, 1000)`)
    database.bringForward()
    assert.deepEqual(database.all('SELECT serial, raiz FROM certificados'), [
      { serial: '0a', raiz: null },
    ])
    for (const table of ['raizes', 'agentes_raizes']) {
      assert.deepEqual(database.all(`SELECT * FROM ${table}`), [])
    }
  })

  test('[VLT-16] of the one before admin tokens: there are no admin tokens, and no kept replies', () => {
    using database = new OldDatabase(8)
    database.bringForward()
    assert.deepEqual(database.all('SELECT * FROM admin_tokens'), [])
    assert.deepEqual(database.all('SELECT * FROM admin_respostas'), [])
  })

  test('[VLT-16] [TOK-4] of the ninth: a token that has expired is ended by the next entry', async () => {
    using database = new OldDatabase(9)
    database.connection.exec(`INSERT INTO enrollment_tokens
      (token_hash, expected_hostname, expected_role, created_at, expires_at, reenroll)
      VALUES ('${HASH}', 'web-1', 'web', 1, 2, 0)`)
    database.bringForward()
    const session = new SqlSession(database.connection)
    await appendEntry(new SqliteWriter(() => session), newEntry({ at: new Date(3) }))
    assert.deepEqual(database.all('SELECT ended_at FROM enrollment_tokens'), [{ ended_at: 3 }])
  })

  test('[VLT-16] [API-4] of the eleventh: the same for admin tokens', async () => {
    using database = new OldDatabase(11)
    database.connection.exec(`INSERT INTO admin_tokens
      (token_hash, name, role, created_at, expires_at) VALUES ('${HASH}', 'ci', 'viewer', 1, 2)`)
    database.bringForward()
    const session = new SqlSession(database.connection)
    await appendEntry(new SqliteWriter(() => session), newEntry({ at: new Date(3) }))
    assert.deepEqual(database.all('SELECT ended_at FROM admin_tokens'), [{ ended_at: 3 }])
  })

  test('[VLT-16] [TOK-9] of the one before tokens ended with their host: what the log has before the revocation has ended', () => {
    using database = new OldDatabase(12)
    const token = (letter: string, hostname: string): string => `INSERT INTO enrollment_tokens
      (token_hash, expected_hostname, expected_role, created_at, expires_at, reenroll)
      VALUES ('${letter.repeat(64)}', '${hostname}', 'web', 1, 99, 1);`
    const entry = (seq: number, type: string, payload: object): string => `INSERT INTO eventos
      (seq, id, tipo_evento, payload, timestamp, hash_anterior, hash_atual)
      VALUES (${seq}, 'e-${seq}', '${type}', '${JSON.stringify(payload)}',
        '${'t'.repeat(27)}', '${HASH}', '${HASH}');`
    const created = (seq: number, letter: string): string =>
      entry(seq, 'token_created', { actor: 'admin', token_id: letter.repeat(16) })
    database.connection.exec(`
      INSERT INTO agentes (id, hostname, role, token_hash, created_at, revoked_at) VALUES
        ('id-1', 'web-1', 'web', 't', 1, 5), ('id-2', 'web-2', 'web', 't', 1, NULL);
      ${token('a', 'web-1')} ${token('b', 'web-1')} ${token('c', 'web-2')} ${token('d', 'web-1')}
      ${created(1, 'a')} ${created(2, 'c')} ${entry(3, 'agent_revoked', { agente_id: 'id-1' })}
      ${created(4, 'b')}`)
    database.bringForward()
    assert.deepEqual(
      database.all('SELECT substr(token_hash, 1, 1) AS token, ended_at FROM enrollment_tokens'),
      [
        { token: 'a', ended_at: 5 },
        { token: 'b', ended_at: null },
        { token: 'c', ended_at: null },
        { token: 'd', ended_at: 5 },
      ],
    )
  })

  test('[VLT-16] [POL-18] of the one before operators were bounded: names that were set were named, all of them were the default', () => {
    using database = new OldDatabase(14)
    database.connection.exec(`
      INSERT INTO politicas (role, nome, sans_permitidos, cargas_automaticas) VALUES
        ('all', 'all', '["*"]', '[]'), ('none', 'none', '[]', '[]'), ('one', 'one', '["a.b"]', '[]');
      INSERT INTO enrollment_tokens
        (token_hash, expected_hostname, expected_role, created_at, expires_at, reenroll)
        VALUES ('${HASH}', 'web-1', 'web', 1, 2, 1)`)
    database.bringForward()
    assert.deepEqual(database.all('SELECT role, sans_nomeados, reenroll FROM politicas'), [
      { role: 'all', sans_nomeados: 0, reenroll: 0 },
      { role: 'none', sans_nomeados: 1, reenroll: 0 },
      { role: 'one', sans_nomeados: 1, reenroll: 0 },
    ])
    assert.deepEqual(database.all('SELECT de_operador FROM enrollment_tokens'), [
      { de_operador: 0 },
    ])
  })

  test('[VLT-16] [MAN-5] of the nineteenth: each agent last polled when it did', () => {
    using database = new OldDatabase(19)
    database.connection.exec(`
      INSERT INTO agentes (id, hostname, role, token_hash, created_at, last_poll_at) VALUES
        ('polled', 'web-1', 'web', '${HASH}', 1, 7), ('silent', 'web-2', 'web', '${HASH}', 1, NULL)`)
    database.bringForward()
    assert.deepEqual(database.all('SELECT * FROM agentes_polls'), [
      { agente_id: 'polled', last_poll_at: 7 },
    ])
  })

  test('[VLT-16] [MET-14] of the twentieth: it is known which agents lose a certificate first', async () => {
    using database = new OldDatabase(20)
    database.connection.exec(`
      INSERT INTO agentes (id, hostname, role, token_hash, created_at) VALUES
        ('a', 'web-1', 'web', '${HASH}', 1), ('b', 'web-2', 'web', '${HASH}', 1),
        ('none', 'web-3', 'web', '${HASH}', 1);
      INSERT INTO certificados (sha256, serial, agente_id, purpose, not_before, not_after) VALUES
        ('${'1'.repeat(64)}', '01', 'a', 'identity', 1, 3600000),
        ('${'2'.repeat(64)}', '02', 'b', 'identity', 1, 7200001)`)
    database.bringForward()
    assert.deepEqual(database.all('SELECT id, primeiro_fim FROM agentes ORDER BY id'), [
      { id: 'a', primeiro_fim: 3_600_000 },
      { id: 'b', primeiro_fim: 7_200_001 },
      { id: 'none', primeiro_fim: null },
    ])
    const session = new SqlSession(database.connection)
    const reader = new SqliteReader(() => session)
    const within = (fromMs: number, toMs: number) =>
      countLosing(reader, new Date(fromMs), [new Date(toMs)])
    assert.deepEqual(
      [await within(0, 3_600_000), await within(3_600_000, 7_200_000), await within(0, 7_200_001)],
      [[1], [0], [2]],
    )
  })

  test('[VLT-16] [LIM-40] of the twenty-first: each agent owes what it owed', async () => {
    using database = new OldDatabase(21)
    database.connection.exec(`
      INSERT INTO agentes (id, hostname, role, token_hash, created_at) VALUES
        ('owes', 'web-1', 'web', '${HASH}', 1), ('free', 'web-2', 'web', '${HASH}', 1);
      INSERT INTO agentes_eventos (agente_id, bytes, reserva, at) VALUES ('owes', 5, 2, 7)`)
    database.bringForward()
    const session = new SqlSession(database.connection)
    const reader = new SqliteReader(() => session)
    assert.deepEqual(await reader.findEventDebt('owes' as AgentId), {
      bytes: 5,
      reserveBytes: 2,
      at: new Date(7),
    })
    assert.equal(await reader.findEventDebt('free' as AgentId), undefined)
  })

  test('[VLT-16] [CHN-11] of the twenty-third: the newest acts are indexed at once, the others in slices', async () => {
    using database = new OldDatabase(23)
    database.connection.exec(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10012)
      INSERT INTO eventos (seq, id, tipo_evento, payload, agente_id, timestamp, hash_anterior, hash_atual)
        SELECT i, 'e' || i, 'noted', iif(i = 7, 'no JSON', '{"actor":"hub"}'), iif(i = 10012, 'an-agent', NULL),
          '1970-01-01T00:00:00.000000Z', '${HASH}', '${HASH}' FROM n`)
    database.bringForward()
    const session = new SqlSession(database.connection)
    const writer = new SqliteWriter(() => session)
    const first = async () => {
      const range = { afterSeq: 0, isNewestFirst: false, limit: 3 }
      return [
        await writer.findIndexedFrom(),
        await writer.listEntrySeqs({ by: 'subject', value: 'ator:hub' }, range),
      ]
    }
    assert.deepEqual(await first(), [12, [12, 13, 14]])
    assert.equal(await writer.indexOlderActs(6), true)
    assert.deepEqual(await first(), [6, [6, 8, 9]])
    assert.equal(await writer.indexOlderActs(6), false)
    assert.deepEqual(await first(), [1, [1, 2, 3]])
    assert.equal(await writer.indexOlderActs(6), false)
    assert.deepEqual(database.all('SELECT count(*) AS indexed FROM eventos_por_assunto'), [
      { indexed: 10_010 },
    ])
  })

  test('[VLT-16] [CHN-10] [CHN-11] of the one before selections were found by their carga: the newest are at once, the others in slices', async () => {
    using database = new OldDatabase(MIGRATIONS.findIndex(({ sql }) => sql === SELECTIONS_BY_CARGO))
    // Every second one selects; 10,002 do.
    database.connection.exec(`
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20004)
      INSERT INTO eventos (seq, id, tipo_evento, payload, timestamp, hash_anterior, hash_atual)
        SELECT i, 'e' || i, iif(i % 2, 'noted', 'carga_selected'), iif(i = 20004, 'no JSON', '{"actor":"admin","carga_id":"c-1"}'),
          '1970-01-01T00:00:00.000000Z', '${HASH}', '${HASH}' FROM n`)
    database.bringForward()
    const session = new SqlSession(database.connection)
    const writer = new SqliteWriter(() => session)
    const first = async () => {
      const range = { afterSeq: 0, isNewestFirst: false, limit: 3 }
      return [
        await writer.findIndexedFrom(),
        await writer.listEntrySeqs({ by: 'subject', value: 'c-1' }, range),
      ]
    }
    assert.deepEqual(await first(), [5, [6, 8, 10]])
    assert.equal(await writer.indexOlderActs(6), false)
    assert.deepEqual(await first(), [1, [2, 4, 6]])
    assert.deepEqual(
      database.all("SELECT count(*) AS indexed FROM eventos_por_assunto WHERE assunto = 'c-1'"),
      [{ indexed: 10_001 }],
    )
    database.connection.exec(`
      INSERT INTO segmentos VALUES (20224, 1, '1970-01-01T00:00:00.000000Z', '1970-01-01T00:00:00.000000Z', '${HASH}', '${HASH}', 'a', 1, 1);
      DELETE FROM eventos WHERE seq <= 4`)
    assert.deepEqual(await first(), [1, [6, 8, 10]])
  })

  test('[VLT-16] [CHN-41] of the one before routine had a table: what is notable is known at once', async () => {
    using database = new OldDatabase(MIGRATIONS.findIndex(({ sql }) => sql === NOTABLE_ENTRIES))
    const types = ['cert_renewed', 'alvo_aplicado', 'agent_started', 'certificate_issued', 'a', 'z']
    database.connection.exec(`
      INSERT INTO eventos (seq, id, tipo_evento, payload, timestamp, hash_anterior, hash_atual)
        SELECT key + 1, 'e' || key, value, '{}', '1970-01-01T00:00:00.000000Z', '${HASH}', '${HASH}'
          FROM json_each('${JSON.stringify(types)}')`)
    database.bringForward()
    const reader = new SqliteReader(() => new SqlSession(database.connection))
    const range = { afterSeq: 0, isNewestFirst: true, limit: 9 }
    assert.deepEqual(await reader.listEntrySeqs({ by: 'notable' }, range), [6, 5, 3])
  })

  test('[VLT-16] [LBL-4] [LBL-15] of the one before labels: no token brings any, and no admin token is bounded', async () => {
    using database = new OldDatabase(38)
    database.connection.exec(`
      INSERT INTO enrollment_tokens
        (token_hash, expected_hostname, expected_role, created_at, expires_at, reenroll)
        VALUES ('${HASH}', 'web-1', 'web', 1, 2, 1);
      INSERT INTO admin_tokens (token_hash, name, role, created_at, expires_at)
        VALUES ('${HASH}', 'ci', 'viewer', 1, 2)`)
    database.bringForward()
    const session = new SqlSession(database.connection)
    const reader = new SqliteReader(() => session)
    const hash = HASH as TokenHash
    assert.deepEqual((await reader.findToken(hash))?.labels, new Map())
    assert.equal((await reader.findAccessToken(hash))?.only, null)
  })

  test('[VLT-16] [TRU-17] of the one before épocas: the set in force is of the first', async () => {
    using database = new OldDatabase(15)
    database.connection.exec(`INSERT INTO raizes (numero, roots, created_at)
      VALUES (1, 'one', 1), (2147483647, 'last', 2)`)
    database.bringForward()
    const session = new SqlSession(database.connection)
    assert.deepEqual(await new SqliteReader(() => session).findRootSet(), {
      epoch: 1,
      number: 2_147_483_647,
      pem: 'last',
      createdAt: new Date(2),
    })
  })

  test('[VLT-16] [JNR-1] of the one before join rules: no token and no request is of a rule, and the program before goes on', async () => {
    using database = new OldDatabase(40)
    const insertOld = (hash: string): void =>
      void database.connection.exec(`
        INSERT INTO enrollment_tokens
          (token_hash, expected_hostname, expected_role, created_at, expires_at, reenroll)
          VALUES ('${hash}', 'web-1', 'web', 1, 2, 0);
        INSERT INTO assinaturas_abertas (id, asked_at, token_hash, pedido)
          VALUES ('${hash}', 1, '${hash}', '{}')`)
    insertOld('1'.repeat(64))
    database.bringForward()
    insertOld('2'.repeat(64))
    for (const table of ['enrollment_tokens', 'assinaturas_abertas']) {
      assert.deepEqual(database.all(`SELECT join_rule FROM ${table}`), [
        { join_rule: null },
        { join_rule: null },
      ])
    }
    assert.deepEqual(database.all('SELECT * FROM join_rules'), [])
    assert.equal(MIGRATIONS[40]?.readableFrom, 37)
  })

  test('[VLT-16] [RLO-6] of the one before rollouts: no entrega is of one, and the program before goes on', () => {
    using database = new OldDatabase(46)
    const insertOld = (id: string): void =>
      void database.connection.exec(`
        INSERT INTO agentes (id, hostname, role, token_hash, created_at)
          VALUES ('a-${id}', 'web-${id}', 'web', 't', 1);
        INSERT INTO cargas (id, tipo, nome, versao, sans, created_at)
          VALUES ('c-${id}', 'csr_cert', 'site', 1, '[]', 1);
        INSERT INTO entregas (id, carga_id, agente_id, status, updated_at, versao, sans)
          VALUES ('${id}', 'c-${id}', 'a-${id}', 'pendente', 1, 1, '[]');
        UPDATE entregas SET status = 'cancelada' WHERE id = '${id}';
        UPDATE agentes SET revoked_at = 1 WHERE id = 'a-${id}'`)
    insertOld('1')
    database.bringForward()
    insertOld('2')
    assert.deepEqual(database.all('SELECT rollout, onda FROM entregas'), [
      { rollout: null, onda: null },
      { rollout: null, onda: null },
    ])
    for (const table of ['rollouts', 'rollout_agentes', 'rollout_alvos', 'freezes']) {
      assert.deepEqual(database.all(`SELECT * FROM ${table}`), [])
    }
    assert.equal(MIGRATIONS[46]?.readableFrom, 37)
  })
})

class OldDatabase implements Disposable {
  readonly connection = new Database(':memory:')
  readonly #format: number

  constructor(format: number) {
    this.#format = format
    for (const { sql } of MIGRATIONS.slice(0, format)) this.connection.exec(sql)
  }

  bringForward(): void {
    for (const { sql } of MIGRATIONS.slice(this.#format)) this.connection.exec(sql)
  }

  all(sql: string): unknown[] {
    return this.connection.prepare(sql).all()
  }

  [Symbol.dispose](): void {
    this.connection.close()
  }
}
