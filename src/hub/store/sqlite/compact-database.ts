// A copy of the database without the pages that are free in it, under the same key: what it costs is what is in it, not how long the
// file is.

import { closeSync, constants, openSync } from 'node:fs'
import type { Secret } from '../../../platform/secret.ts'
import { nameFile, openReader } from './encrypted-database.ts'

const CREATE_NEW = constants.O_RDWR | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** `to` must not exist. Not synced yet. Throws StoreError. */
export function copyCompactly(path: string, dataKey: Secret<Buffer>, to: string): void {
  // SQLite fills a file that is empty, and leaves its mode as it is.
  closeSync(openSync(to, CREATE_NEW, 0o600))
  const connection = openReader(path, dataKey)
  try {
    // It writes, though not into this database.
    connection.pragma('query_only = OFF')
    connection.prepare('VACUUM INTO ?').run(to)
  } catch (error) {
    throw nameFile(to, error)
  } finally {
    connection.close()
  }
}
