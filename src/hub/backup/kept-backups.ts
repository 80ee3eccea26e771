// The backups of one vault in a directory that other vaults may share: their names say of which vault and of when.

import { constants } from 'node:fs'
import { type FileHandle, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { countSealedBytes, deriveBackupKeys } from '../../backup/backup-frames.ts'
import {
  countHeadBytes,
  HEAD_BYTES_MIN,
  parseBackupHead,
  requireHeadMac,
} from '../../backup/backup-head.ts'
import { errnoCode, SvcError } from '../../platform/errors.ts'
import type { Secret } from '../../platform/secret.ts'

export interface KeptBackup {
  readonly path: string
  readonly at: Date
}

/** Whose backups are looked for. */
export interface BackedUpVaultKey {
  readonly vaultId: string
  /** Undefined for who has none, and cannot know who wrote a head. */
  readonly dataKey: Secret<Buffer> | undefined
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
 * Those that are whole by what their heads say, and that bear their own names, the oldest first. One of after `until` is of a clock
 * that was wrong: it would be the newest for years, and is left out.
 */
export async function listKeptBackups(
  directory: string,
  vault: BackedUpVaultKey,
  until: Date,
): Promise<KeptBackup[]> {
  const start = startOfNames(vault.vaultId)
  const names = (await readdir(directory)).filter(
    (name) => name.startsWith(start) && name.endsWith(END),
  )
  const kept: KeptBackup[] = []
  for (const name of names.sort()) {
    const path = join(directory, name)
    const at = await readTimeOfWhole(path, vault)
    const isNamed = at && name === nameOfBackup(vault.vaultId, at.toISOString())
    if (isNamed === true && at <= until) kept.push({ path, at })
  }
  return kept
}

async function readTimeOfWhole(path: string, vault: BackedUpVaultKey): Promise<Date | undefined> {
  try {
    const file = await open(path, READ_AT_ONCE)
    try {
      return await readTime(file, path, vault)
    } finally {
      await file.close()
    }
  } catch (error) {
    // Damaged, of a newer version, of another key, or not for us to read: it is not counted, not removed, and holds up nothing.
    if (error instanceof SvcError || errnoCode(error) !== undefined) return undefined
    throw error
  }
}

async function readTime(
  file: FileHandle,
  path: string,
  { vaultId, dataKey }: BackedUpVaultKey,
): Promise<Date | undefined> {
  const start = Buffer.alloc(HEAD_BYTES_MIN)
  await file.read(start, 0, start.length, 0)
  const bytes = Buffer.alloc(countHeadBytes(start, path))
  await file.read(bytes, 0, bytes.length, 0)
  const head = parseBackupHead(bytes, path)
  if (dataKey !== undefined) requireHeadMac(bytes, deriveBackupKeys(dataKey, head).head, path)
  const { size } = await file.stat()
  const isWhole = size === bytes.length + countSealedBytes(head.store.bytes)
  return isWhole && head.vaultId === vaultId ? new Date(head.createdAt) : undefined
}
