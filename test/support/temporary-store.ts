// A store of its own for a test, in a directory that is gone with it. It runs each write function twice, and a second database
// follows it by the records of its changes: at the end the two have to be the same, row by row.

import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  formatChangeRecord,
  parseChangeRecord,
} from '../../src/hub/store/sqlite/change-record-form.ts'
import {
  type Connection,
  createDatabase,
  openReader,
  openWriter,
} from '../../src/hub/store/sqlite/encrypted-database.ts'
import { replayChanges } from '../../src/hub/store/sqlite/replay-changes.ts'
import { SqlSession } from '../../src/hub/store/sqlite/sql-session.ts'
import { openSqliteStore } from '../../src/hub/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { Secret } from '../../src/platform/secret.ts'
import { runTwice } from './run-twice.ts'

export async function openTemporaryStore(): Promise<Store & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'store-'))
  const dataKey = new Secret(randomBytes(32))
  const path = join(directory, 'db.enc')
  const copyPath = join(directory, 'copy.enc')
  await createDatabase(copyPath, dataKey)
  const copy = openWriter(copyPath, dataKey)
  const session = new SqlSession(copy)
  const store = await openSqliteStore({
    path,
    dataKey,
    createIfMissing: true,
    journal: {
      append: async (changes) => {
        session.run('BEGIN IMMEDIATE')
        replayChanges(session, parseChangeRecord(formatChangeRecord(changes)))
        session.run('COMMIT')
      },
    },
  })
  return {
    reader: store.reader,
    get version() {
      return store.version
    },
    versionOf: (id) => store.versionOf(id),
    write: runTwice((work, company) => store.write(work, company)),
    close: () => store.close(),
    [Symbol.asyncDispose]: async () => {
      await store.close()
      const original = openReader(path, dataKey)
      assert.deepEqual(readTables(copy), readTables(original), 'the copy has followed')
      original.close()
      copy.close()
      await rm(directory, { recursive: true })
    },
  }
}

/** The rows of each table. */
function readTables(connection: Connection): ReadonlyMap<string, readonly unknown[]> {
  const session = new SqlSession(connection)
  const names = session.column<string>(
    `SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name`,
  )
  return new Map(names.map((name) => [name, session.all(`SELECT * FROM "${name}"`)]))
}
