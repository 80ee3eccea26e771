// A store of its own for a test, in a directory that is gone with it. It runs each write function twice, and shares a journal with a
// second store that follows it: at the end the two have to be the same, row by row.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Journal, JournalPosition, LeaseTerm } from '../../src/hub/store/journal.ts'
import { RecordSeal } from '../../src/hub/store/record-seal.ts'
import { createDatabase, openReader } from '../../src/hub/store/sqlite/encrypted-database.ts'
import { enterJournal } from '../../src/hub/store/sqlite/enter-journal.ts'
import { SqlSession } from '../../src/hub/store/sqlite/sql-session.ts'
import { openSqliteStore, type SqliteStore } from '../../src/hub/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { Secret } from '../../src/platform/secret.ts'
import { MemoryJournal } from '../fakes/memory-journal.ts'
import { runTwice } from './run-twice.ts'

export async function openTemporaryStore(): Promise<Store & AsyncDisposable> {
  const stores = await openSharingStores(2)
  const [store, other] = stores.all
  assert.ok(store !== undefined && other !== undefined)
  return {
    reader: store.reader,
    get version() {
      return store.version
    },
    versionOf: (id) => store.versionOf(id),
    write: runTwice((work, company) => store.write(work, company)),
    close: () => store.close(),
    [Symbol.asyncDispose]: async () => {
      await other.follow()
      stores.assertSame()
      await stores[Symbol.asyncDispose]()
    },
  }
}

export interface SharingStores extends AsyncDisposable {
  readonly all: readonly SqliteStore[]
  readonly paths: readonly string[]
  readonly dataKey: Secret<Buffer>
  readonly journal: MemoryJournal
  readonly seal: RecordSeal
  /** What each write of the first store needs. */
  standing: (() => LeaseTerm | undefined) | undefined
  /** Row by row, once all of them have followed. */
  assertSame(): void
}

/** They share one journal in memory, unless each is given its own way to another one. */
export async function openSharingStores(
  count: number,
  elsewhere?: { readonly begin: JournalPosition; readonly connect: () => Journal },
): Promise<SharingStores> {
  const directory = await mkdtemp(join(tmpdir(), 'store-'))
  const dataKey = new Secret(randomBytes(32))
  const journal = new MemoryJournal(randomBytes(32))
  const seal = new RecordSeal(dataKey, 'a-vault')
  const paths = Array.from({ length: count }, (_, at) => join(directory, `db-${at}.enc`))
  const all: SqliteStore[] = []
  const stores: Pick<SharingStores, 'standing'> = { standing: undefined }
  const begin = elsewhere?.begin ?? journal.end
  for (const path of paths) {
    const isFirst = all.length === 0
    const standing = (): LeaseTerm | undefined => (isFirst ? stores.standing?.() : undefined)
    const shared = { journal: elsewhere?.connect() ?? journal, seal, standing }
    await createDatabase(path, dataKey)
    enterJournal(path, dataKey, begin)
    all.push(await openSqliteStore({ path, dataKey, shared }))
  }
  return Object.assign(stores, {
    all,
    paths,
    dataKey,
    journal,
    seal,
    assertSame: () => {
      const [first, ...others] = paths.map((path) => readTables(path, dataKey))
      for (const other of others) assert.deepEqual(other, first, 'all have the same rows')
    },
    [Symbol.asyncDispose]: async () => {
      for (const store of all) await store.close()
      await rm(directory, { recursive: true })
    },
  })
}

/** The rows of each table. */
export function readTables(
  path: string,
  dataKey: Secret<Buffer>,
): ReadonlyMap<string, readonly unknown[]> {
  const connection = openReader(path, dataKey)
  const session = new SqlSession(connection)
  const names = session.column<string>(
    `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`,
  )
  const tables = names.map((name) => [name, session.all(`SELECT * FROM "${name}"`)] as const)
  connection.close()
  return new Map(tables)
}
