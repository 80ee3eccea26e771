// The backups of one vault in a directory that other vaults may share: their names say of which vault and of when.

import { constants } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { countSealedBytes } from '../../backup/backup-frames.ts'
import { countHeadBytes, HEAD_BYTES_MIN, parseBackupHead } from '../../backup/backup-head.ts'
import { errnoCode, SvcError } from '../../platform/errors.ts'

export interface KeptBackup {
  readonly path: string
  readonly at: Date
}

const END = '.svcbackup'
/** To open a pipe would wait for somebody who writes to it. */
const READ_AT_ONCE = constants.O_RDONLY | constants.O_NONBLOCK

export function startOfNames(vaultId: string): string {
  return `${vaultId}-`
}

/** `<vault id>-<time>.svcbackup`; in the order of their names they are in the order of time. */
export function nameOfBackup(vaultId: string, createdAt: string): string {
  return `${startOfNames(vaultId)}${createdAt.replaceAll(':', '')}${END}`
}

/**
 * Those that are whole by what their heads say, the oldest first. One of after `until` is of a clock that was wrong: it would be the
 * newest for years, and is left out.
 */
export async function listKeptBackups(
  directory: string,
  vaultId: string,
  until: Date,
): Promise<KeptBackup[]> {
  const start = startOfNames(vaultId)
  const names = (await readdir(directory)).filter(
    (name) => name.startsWith(start) && name.endsWith(END),
  )
  const kept: KeptBackup[] = []
  for (const name of names.sort()) {
    const path = join(directory, name)
    const at = await readTimeOfWhole(path, vaultId)
    if (at !== undefined && at <= until) kept.push({ path, at })
  }
  return kept
}

async function readTimeOfWhole(path: string, vaultId: string): Promise<Date | undefined> {
  try {
    const file = await open(path, READ_AT_ONCE)
    try {
      return await readTime(file, path, vaultId)
    } finally {
      await file.close()
    }
  } catch (error) {
    // Damaged, of a newer version, or not for us to read: it is not counted, not removed, and holds up nothing.
    if (error instanceof SvcError || errnoCode(error) !== undefined) return undefined
    throw error
  }
}

async function readTime(
  file: FileHandle,
  path: string,
  vaultId: string,
): Promise<Date | undefined> {
  const start = Buffer.alloc(HEAD_BYTES_MIN)
  await file.read(start, 0, start.length, 0)
  const bytes = Buffer.alloc(countHeadBytes(start, path))
  await file.read(bytes, 0, bytes.length, 0)
  const head = parseBackupHead(bytes, path)
  const { size } = await file.stat()
  const isWhole = size === bytes.length + countSealedBytes(head.store.bytes)
  return isWhole && head.vaultId === vaultId ? new Date(head.createdAt) : undefined
}
