import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deflateRawSync } from 'node:zlib'
import { newAgent } from '../../../../test/store/store-samples.ts'
import { openSharingStores, type SharingStores } from '../../../../test/support/temporary-store.ts'
import { positionAfter } from '../record-seal.ts'
import { openReader } from './encrypted-database.ts'
import type { Migration } from './migration.ts'
import { MIGRATIONS } from './migrations.ts'
import { openSqliteStore, type SqliteStore } from './sqlite-store.ts'

const NOW = MIGRATIONS.length
/** What a next version may bring, with which programs of this one can go on. */
const ADDITIVE: readonly Migration[] = [
  ...MIGRATIONS,
  {
    sql: `ALTER TABLE agentes ADD COLUMN sala TEXT;
      UPDATE agentes SET sala = 'b' WHERE hostname = 'web-1';
      CREATE TABLE salas (nome TEXT NOT NULL PRIMARY KEY) STRICT;
      CREATE TRIGGER salas_por_agente AFTER UPDATE OF sala ON agentes
      BEGIN INSERT OR IGNORE INTO salas (nome) VALUES (new.sala); END;`,
    readableFrom: NOW,
  },
]
/** And with which they cannot. */
const CONTRACTING: readonly Migration[] = [
  ...MIGRATIONS,
  { sql: 'DROP TABLE pedidos;', readableFrom: NOW + 1 },
]

const allowed = async (): Promise<void> => undefined

describe('tables that several hubs have', () => {
  test('[JRN-14] go forward by a record of the newest program, and the others go on', async () => {
    await using stores = await openSharingStores(2)
    const older = stores.all[1] ?? assert.fail()
    await older.write((writer) => writer.insertAgent(newAgent('web-1')))
    await using newer = await startNewer(stores, 0, ADDITIVE)
    assert.deepEqual(
      versionsOf(stores),
      [NOW, NOW],
      'a store that is opened brings nothing forward',
    )
    await newer.bringTablesForward(allowed)
    assert.equal(stores.journal.records.length, 2)
    assert.deepEqual(versionsOf(stores), [NOW + 1, NOW])
    await older.write((writer) => writer.insertAgent(newAgent('web-2')))
    assert.deepEqual(versionsOf(stores), [NOW + 1, NOW + 1], 'who writes follows first')
    await newer.write((writer) => writer.insertAgent(newAgent('web-3')))
    await older.follow()
    await newer.follow()
    stores.assertSame()
    assert.equal((await older.reader.findAgentByHostname('web-3'))?.hostname, 'web-3')
    assert.equal((await older.reader.findAgentByHostname('web-1'))?.hostname, 'web-1')
  })

  test('[JRN-14] go forward once, when two newer programs start at once', async () => {
    await using stores = await openSharingStores(3)
    await using one = await startNewer(stores, 0, ADDITIVE)
    await using two = await startNewer(stores, 1, ADDITIVE)
    await Promise.all([one, two].map((store) => store.bringTablesForward(allowed)))
    assert.equal(stores.journal.records.length, 1)
    await stores.all[2]?.follow()
    stores.assertSame()
    assert.deepEqual(versionsOf(stores), [NOW + 1, NOW + 1, NOW + 1])
  })

  test('[JRN-14] go forward when the journal lost the connection, and not at all when it is away', async () => {
    await using stores = await openSharingStores(2)
    await using newer = await startNewer(stores, 0, ADDITIVE)
    stores.journal.mood = 'away'
    await assert.rejects(newer.bringTablesForward(allowed), { code: 'store_unavailable' })
    assert.deepEqual(versionsOf(stores), [NOW, NOW])
    stores.journal.mood = 'well'
    stores.journal.refusals = 2
    await newer.bringTablesForward(allowed)
    assert.equal(stores.journal.records.length, 1)
    await stores.all[1]?.follow()
    stores.assertSame()
  })

  test('[JRN-14] stay as they are when nobody answers for the record, and follow it later', async () => {
    await using stores = await openSharingStores(2)
    await using newer = await startNewer(stores, 0, ADDITIVE)
    stores.journal.mood = 'loses replies'
    await assert.rejects(newer.bringTablesForward(allowed), { code: 'store_unknown' })
    assert.deepEqual(versionsOf(stores), [NOW, NOW])
    stores.journal.mood = 'well'
    await newer.follow()
    await newer.bringTablesForward(allowed)
    assert.equal(stores.journal.records.length, 1, 'the record that was taken is the only one')
    await stores.all[1]?.follow()
    stores.assertSame()
  })

  test('[JRN-15] stay as they are when a hub that runs could not go on', async () => {
    await using stores = await openSharingStores(2)
    await using newer = await startNewer(stores, 0, CONTRACTING)
    const asked: number[] = []
    const refusing = newer.bringTablesForward(async ({ readableFrom }) => {
      asked.push(readableFrom)
      throw new Error('not yet')
    })
    await assert.rejects(refusing, { message: 'not yet' })
    assert.deepEqual(asked, [NOW + 1])
    await stores.all[1]?.write((writer) => writer.insertAgent(newAgent('web-1')))
    assert.deepEqual(versionsOf(stores), [NOW, NOW])
  })

  test('[JRN-15] that are newer and readable an older program opens again, others it refuses by name', async () => {
    await using stores = await openSharingStores(2)
    const older = stores.all[1] ?? assert.fail()
    {
      await using newer = await startNewer(stores, 0, ADDITIVE)
      await newer.bringTablesForward(allowed)
    }
    await older.follow()
    await older.close()
    {
      await using again = await startNewer(stores, 1, MIGRATIONS)
      await again.bringTablesForward(allowed)
      await again.write((writer) => writer.insertAgent(newAgent('web-1')))
      assert.equal(stores.journal.records.length, 2)
    }
    const twice = [...ADDITIVE, ...CONTRACTING.slice(NOW)]
    await using newest = await startNewer(stores, 0, twice)
    await newest.bringTablesForward(allowed)
    await using left = await startNewer(stores, 1, MIGRATIONS)
    await assert.rejects(left.follow(), {
      code: 'store_newer',
      message: `another hub has brought the tables to format ${NOW + 2}, which programs that know format ${NOW + 1} can use; this one knows formats up to ${NOW}`,
    })
    assert.deepEqual(versionsOf(stores), [NOW + 2, NOW + 1], 'what it cannot use it leaves')
    await newest.close()
    await assert.rejects(startNewer(stores, 0, MIGRATIONS), {
      code: 'store_newer',
      message: `${stores.paths[0] ?? ''} has format ${NOW + 2}, this program knows formats up to ${NOW}`,
    })
  })

  test('[JRN-2] a record of a newer form is refused by name', async () => {
    await using stores = await openSharingStores(1)
    const [store] = stores.all
    const before = stores.journal.end
    const record = stores.seal.seal(before, deflateRawSync('{"v":2,"acts":[]}'))
    const turn = await stores.journal.takeTurn()
    await turn.append(record, positionAfter(before, record))
    await assert.rejects(store?.follow() ?? assert.fail(), {
      code: 'store_newer',
      message: 'a record of the journal has form 2, this program knows form 1',
    })
  })
})

/** The same database, with a program that knows other steps. */
async function startNewer(
  stores: SharingStores,
  at: number,
  migrations: readonly Migration[],
): Promise<SqliteStore & AsyncDisposable> {
  await stores.all[at]?.close()
  const { journal, seal, dataKey } = stores
  const path = stores.paths[at] ?? assert.fail()
  const store = await openSqliteStore({ path, dataKey, shared: { journal, seal, migrations } })
  return Object.assign(store, { [Symbol.asyncDispose]: () => store.close() })
}

function versionsOf({ paths, dataKey }: SharingStores): readonly unknown[] {
  return paths.map((path) => {
    const connection = openReader(path, dataKey)
    try {
      return connection.pragma('user_version', { simple: true })
    } finally {
      connection.close()
    }
  })
}
