// A store of its own for a test, in a directory that is gone with it.

import { randomBytes } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '../../src/hub/store/sqlite/sqlite-store.ts'
import type { Store } from '../../src/hub/store/store.ts'
import { Secret } from '../../src/platform/secret.ts'
import { runTwice } from './run-twice.ts'

export async function openTemporaryStore(): Promise<Store & AsyncDisposable> {
  const directory = await mkdtemp(join(tmpdir(), 'store-'))
  const dataKey = new Secret(randomBytes(32))
  const path = join(directory, 'db.enc')
  const store = await openSqliteStore({ path, dataKey, createIfMissing: true })
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
      await rm(directory, { recursive: true })
    },
  }
}
