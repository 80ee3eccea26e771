// The database file without what is free in it: a copy that was read and compared takes its place by one rename. docs/protocol.md ARC-11.

import { rename, stat } from 'node:fs/promises'
import { invariant } from '../platform/errors.ts'
import { removeIfPresent, syncDirectory, syncFile } from '../platform/files.ts'
import { requireNoWriteAheadLog } from './backup/require-no-write-ahead-log.ts'
import { copyCompactly } from './store/sqlite/compact-database.ts'
import { checkEveryPage, inspectAuditLog } from './store/sqlite/encrypted-database.ts'
import type { UnsealedVault } from './vault/vault.ts'

export interface CompactedVault {
  readonly bytesBefore: number
  readonly bytesAfter: number
}

/** Under the vault's lock, and with its store closed. Whatever stops it leaves the old file or the new one. */
export async function compactVault(
  vault: UnsealedVault,
  onProgress: (what: string) => void,
): Promise<CompactedVault> {
  const { root, databasePath: path, dataKey } = vault
  // One that stayed would be taken for what the new file lacks.
  await requireNoWriteAheadLog(vault)
  const staged = `${path}.compact`
  await removeIfPresent(staged)
  try {
    onProgress('copying what is in the database')
    copyCompactly(path, dataKey, staged)
    onProgress('reading every page of the copy')
    checkEveryPage(staged, dataKey)
    const [before, after] = [path, staged].map((each) => inspectAuditLog(each, dataKey, 0).last)
    invariant(before?.hash === after?.hash, 'the copy has the whole log')
    await syncFile(staged)
    const sizes = { bytesBefore: (await stat(path)).size, bytesAfter: (await stat(staged)).size }
    await rename(staged, path)
    await syncDirectory(root)
    return sizes
  } catch (error) {
    await removeIfPresent(staged)
    throw error
  }
}
