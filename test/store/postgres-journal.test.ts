// Stores that share a journal in a real PostgreSQL, which is stopped, killed, and loses connections meanwhile.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { createJournal } from '../../src/hub/store/postgres/create-journal.ts'
import { endJournal } from '../../src/hub/store/postgres/end-journal.ts'
import { PostgresJournal } from '../../src/hub/store/postgres/postgres-journal.ts'
import { appendEntry } from '../../src/hub/service/append-entries.ts'
import { hubAct } from '../../src/hub/service/hub-acts.ts'
import { WritableConnection } from '../../src/hub/store/postgres/writable-connection.ts'
import type { SqliteStore } from '../../src/hub/store/sqlite/sqlite-store.ts'
import { systemClock } from '../../src/platform/clock.ts'
import { SvcError } from '../../src/platform/errors.ts'
import { HubEventType } from '../../src/protocol/words.ts'
import { positionAfter } from '../../src/hub/store/record-seal.ts'
import { formatChangeRecord } from '../../src/hub/store/sqlite/change-record-form.ts'
import { waitUntil } from '../support/processes.ts'
import { postgresProgram, skipUnlessRunnable } from '../services/support/required-programs.ts'
import { type Postgresql, startPostgresql } from '../support/postgresql.ts'
import { openSharingStores, type SharingStores } from '../support/temporary-store.ts'

const VAULT_ID = 'a-vault'
const WRITERS = 8
const AMBIENT = { clock: systemClock, random: Math.random }

describe(
  'a journal in PostgreSQL',
  { skip: skipUnlessRunnable([postgresProgram('postgres')]) },
  () => {
    let server: Postgresql
    let stores: SharingStores
    before(async () => {
      server = await startPostgresql()
      stores = await openSharingStores(2, {
        begin: await createJournal(server.servers, VAULT_ID),
        connect: () => new PostgresJournal(server.servers, VAULT_ID, AMBIENT),
      })
    })
    after(async () => {
      await stores[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    })

    test('[JRN-1] gives each of two stores what the other did, and every number once', async () => {
      const history = await keepWriting(stores, async () => {
        await until(stores, 300)
      })
      assert.deepEqual(history.failures, [])
      await assertHistory(stores, history)
    })

    for (const { name, disturb } of [
      {
        name: 'loses connections around COMMIT',
        disturb: async () => {
          for (let times = 0; times < 20; times += 1) {
            await server.query(
              `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
             WHERE pid <> pg_backend_pid() AND backend_type = 'client backend' ORDER BY random() LIMIT 1`,
            )
            await until(stores, 20)
          }
        },
      },
      {
        name: 'is killed and starts again',
        disturb: async () => {
          await until(stores, 50)
          server.kill('SIGQUIT')
          await server.startAgain()
          await until(stores, 50)
        },
      },
    ]) {
      test(`[JRN-5] that ${name} loses no write that was acknowledged, and doubles none`, async (context) => {
        const history = await keepWriting(stores, disturb)
        context.diagnostic(
          `${history.acknowledged.length} acknowledged, ${history.failures.length} refused or unknown`,
        )
        await assertHistory(stores, history)
      })
    }

    test('[JRN-14] does not end the turn of a hub that brings the tables forward for longer than others may be silent', async () => {
      const journal = new PostgresJournal(server.servers, VAULT_ID, AMBIENT)
      const turn = await journal.takeTurn('long')
      await waitUntil('the turn to be older than another one may be', async () => {
        const [row] = await server.query(
          `SELECT 1 FROM pg_stat_activity WHERE state = 'idle in transaction' AND state_change < now() - interval '2.5 s'`,
        )
        return row
      })
      const empty = formatChangeRecord({ statements: [], agents: [], news: [] })
      const record = stores.seal.seal(turn.end, empty)
      await turn.append(record, positionAfter(turn.end, record))
      await journal.close()
      await assertHistory(stores, { acknowledged: [], failures: [] })
    })

    test('[JRN-4] that has records is not begun again', async () => {
      await assert.rejects(createJournal(server.servers, VAULT_ID), { code: 'store_exists' })
      await assert.rejects(createJournal(server.servers, 'another-vault'), {
        code: 'store_diverged',
      })
      await assertHistory(stores, { acknowledged: [], failures: [] })
    })

    test('[JRN-11] tells who needs records that are gone that it is behind', async () => {
      const journal = new PostgresJournal(server.servers, VAULT_ID, AMBIENT)
      const { end, records } = await journal.read(0)
      assert.ok(records.length > 2 && end.number > 3)
      await server.query('DELETE FROM diario WHERE numero = 1')
      await assert.rejects(journal.read(0), {
        code: 'store_behind',
        message: 'the journal has no record 1 any more, which this vault needs next',
      })
      assert.equal((await journal.read(1)).records[0]?.number, 2)
      assert.deepEqual(await journal.read(end.number), { end, records: [] })
      await journal.close()
    })

    test('[JRN-4] that is begun again before its first record is another one', async () => {
      await server.query('CREATE DATABASE begun_twice')
      const servers = { ...server.servers, database: 'begun_twice' }
      const connect = () => new PostgresJournal(servers, VAULT_ID, AMBIENT)
      await using early = await openSharingStores(1, {
        begin: await createJournal(servers, VAULT_ID),
        connect,
      })
      await using late = await openSharingStores(1, {
        begin: await createJournal(servers, VAULT_ID),
        connect,
      })
      const [first] = early.all
      const [second] = late.all
      assert.ok(first && second)
      await assert.rejects(first.follow(), {
        code: 'store_diverged',
        message:
          'the journal is another one: its record 0 is not the one that this vault has followed',
      })
      await second.write((writer) =>
        appendEntry(writer, hubAct(new Date(), HubEventType.tokenRevoked, { actor: 'hub' })),
      )
      await assert.rejects(first.follow(), {
        code: 'store_diverged',
        message: 'record 1 of the journal does not follow record 0 of this vault',
      })
    })

    test('[DBS-12] [DBS-13] begins again, and ends, in a time that does not grow with its rows', async () => {
      await server.query('CREATE DATABASE large')
      const servers = { ...server.servers, database: 'large' }
      using connection = await WritableConnection.open(servers)
      await createJournal(servers, VAULT_ID)
      await connection.query(
        `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''one by one''; END'`,
      )
      const tables = ['diario', 'imagem', 'imagem_parte']
      for (const table of tables) {
        await connection.query(
          `CREATE TRIGGER refuse BEFORE DELETE ON ${table} FOR EACH ROW EXECUTE FUNCTION refuse()`,
        )
      }
      const fill = async (): Promise<void> => {
        for (const statement of [
          `INSERT INTO diario (numero, selado, bytes) VALUES (1, 'x', 1)`,
          `INSERT INTO imagem VALUES (gen_random_uuid(), 0, decode(repeat('00', 32), 'hex'), 'x', 1, 1, '', 1, 0)`,
          `INSERT INTO imagem_parte SELECT id, 0, 'x' FROM imagem`,
        ]) {
          await connection.query(statement)
        }
      }
      const countRows = async (): Promise<unknown> =>
        connection.query(
          tables.map((table) => `SELECT count(*)::integer FROM ${table}`).join(' UNION ALL '),
        )
      const none = tables.map(() => ({ count: 0 }))
      await fill()
      const begin = await createJournal(servers, VAULT_ID, { replaces: true })
      assert.deepEqual(await countRows(), none)
      await fill()
      // A server that removes files by the gigabyte does it in COMMIT.
      await connection.query(
        `CREATE FUNCTION linger() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM pg_sleep(3.5); RETURN NULL; END'`,
      )
      await connection.query(
        'CREATE CONSTRAINT TRIGGER linger AFTER UPDATE ON diario_fim DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION linger()',
      )
      await endJournal(servers, VAULT_ID, begin)
      assert.deepEqual(await countRows(), none)
    })

    test('[JRN-4] of another vault is refused', async () => {
      const journal = new PostgresJournal(server.servers, 'another-vault', AMBIENT)
      await assert.rejects(journal.takeTurn(), {
        code: 'store_diverged',
        message: 'the database belongs to vault a-vault, config.json to vault another-vault',
      })
      await journal.close()
    })
  },
)

interface History {
  /** The numbers that were answered. */
  readonly acknowledged: readonly number[]
  readonly failures: readonly string[]
}

async function lastSeq({ all }: SharingStores): Promise<number> {
  const ends = await Promise.all(all.map((store) => store.reader.findChainEnd()))
  return Math.max(...ends.map((end) => end?.seq ?? 0))
}

/** Until the log has grown by so many entries. */
async function until(stores: SharingStores, entries: number): Promise<void> {
  const target = (await lastSeq(stores)) + entries
  const deadlineMs = Date.now() + 30_000
  while ((await lastSeq(stores)) < target) {
    if (Date.now() > deadlineMs) throw new SvcError('timeout', `the log has not grown to ${target}`)
    await systemClock.sleep(5)
  }
}

async function keepWriting(
  { all }: SharingStores,
  meanwhile: () => Promise<void>,
): Promise<History> {
  const acknowledged: number[] = []
  const failures: string[] = []
  const stop = new AbortController()
  const write = async (store: SqliteStore): Promise<void> => {
    while (!stop.signal.aborted) {
      const act = hubAct(new Date(), HubEventType.tokenRevoked, { actor: 'hub' })
      await store
        .write((writer) => appendEntry(writer, act))
        .then(
          ({ seq }) => acknowledged.push(seq),
          (error: SvcError) => failures.push(error.code),
        )
    }
  }
  const writing = all.flatMap((store) => Array.from({ length: WRITERS }, () => write(store)))
  try {
    await meanwhile()
  } finally {
    stop.abort()
    await Promise.all(writing)
  }
  return { acknowledged, failures }
}

async function assertHistory(
  stores: SharingStores,
  { acknowledged, failures }: History,
): Promise<void> {
  for (const code of failures) {
    assert.ok(code === 'store_unavailable' || code === 'store_unknown', `refused as ${code}`)
  }
  for (const store of stores.all) await store.follow()
  stores.assertSame()
  assert.equal(new Set(acknowledged).size, acknowledged.length, 'each number is answered once')
  const [store] = stores.all
  const end = await store?.reader.findChainEnd()
  assert.ok((end?.seq ?? 0) >= Math.max(0, ...acknowledged))
}
