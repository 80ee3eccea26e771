// The vault's file system and the vault on it, for `svc doctor`. docs/protocol.md DOC-10.

import { readdir, stat, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { errnoCode } from '../../platform/errors.ts'
import type { DiskFacts } from '../../protocol/admin/examination.ts'

const FILES_MAX = 1000

export async function measureDisk(
  directory: string,
  floorBytes: number,
): Promise<Omit<DiskFacts, 'growth_bytes_per_day'>> {
  const { type, bavail, bsize, files, ffree } = await statfs(directory)
  return {
    directory,
    file_system: type,
    free_bytes: bavail * bsize,
    floor_bytes: Number.isFinite(floorBytes) ? floorBytes : null,
    files_free: files > 0 ? ffree : null,
    vault_bytes: await measureFiles(directory),
  }
}

/** Null for who may not look into it. */
async function measureFiles(directory: string): Promise<number | null> {
  try {
    const names = await readdir(directory)
    const sizes = names.slice(0, FILES_MAX).map((name) =>
      stat(join(directory, name)).then(
        (found) => (found.isFile() ? found.size : 0),
        () => 0,
      ),
    )
    return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0)
  } catch (error) {
    if (errnoCode(error) === 'EACCES') return null
    throw error
  }
}
