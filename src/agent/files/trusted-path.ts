// Whether a path is what it seems: every directory on the way is root's or the user's own, and nobody else can change it.

import type { Stats } from 'node:fs'
import { lstat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { errnoCode } from '../../platform/errors.ts'

export type TrustedDirectories =
  // From `/` down to the directory itself.
  | { readonly ok: true; readonly directories: readonly Stats[] }
  | { readonly ok: false; readonly reason: string }

/**
 * Looks at an absolute, normal directory path from `/` down. A sticky bit does not help: in `/tmp` anyone can be there
 * first. Once it is trusted, only root and the user can make the path mean something else.
 */
export async function readTrustedDirectories(
  directory: string,
  uid: number,
): Promise<TrustedDirectories> {
  const directories: Stats[] = []
  for (const path of ancestry(directory)) {
    const seen = await lookAt(path)
    if (typeof seen === 'string') return { ok: false, reason: seen }
    if (seen === undefined) return { ok: false, reason: `the directory ${path} does not exist` }
    const reason = directoryRefusal(path, seen, uid)
    if (reason !== undefined) return { ok: false, reason }
    directories.push(seen)
  }
  return { ok: true, directories }
}

/** Undefined when there is nothing; the reason, as text, when it cannot be looked at. Never follows a link. */
export async function lookAt(path: string): Promise<Stats | string | undefined> {
  try {
    return await lstat(path)
  } catch (error) {
    const code = errnoCode(error)
    if (code === 'ENOENT') return undefined
    if (code === undefined) throw error
    return `${path} cannot be looked at: ${code}`
  }
}

/** Why anyone but root and the user could change what these are the properties of. */
export function ownershipRefusal(
  { uid: ownerUid, mode }: Pick<Stats, 'uid' | 'mode'>,
  uid: number,
  subject: string,
): string | undefined {
  if (ownerUid !== 0 && ownerUid !== uid) return `${subject} belongs to user ${ownerUid}`
  if ((mode & 0o022) !== 0) return `${subject} is writable by group or others`
  return undefined
}

function directoryRefusal(path: string, stats: Stats, uid: number): string | undefined {
  if (stats.isSymbolicLink()) return `${path} is a symbolic link`
  if (!stats.isDirectory()) return `${path} is not a directory`
  return ownershipRefusal(stats, uid, `the directory ${path}`)
}

function ancestry(directory: string): string[] {
  const parent = dirname(directory)
  return parent === directory ? [directory] : [...ancestry(parent), directory]
}
