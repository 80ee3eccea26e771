import { statSync } from 'node:fs'
import { errnoCode } from './errors.ts'

/**
 * A program started by root becomes, for good, the owner of the directory that it works in (groups, gid, uid), so that
 * it never leaves files there that the owner cannot read, and nothing planted there is followed with root's rights.
 * Does nothing for anyone but root, or when the directory does not exist.
 */
export function becomeOwnerOf(directory: string): void {
  if (process.getuid?.() !== 0) return
  const stats = statSync(directory, { throwIfNoEntry: false })
  if (stats === undefined || stats.uid === 0) return
  takeGroupsOf(stats.uid, stats.gid)
  process.setgid?.(stats.gid)
  process.setuid?.(stats.uid)
}

function takeGroupsOf(uid: number, gid: number): void {
  // Documented for all Unix systems, but missing from @types/node.
  const unix = process as unknown as { initgroups(user: number, group: number): void }
  try {
    unix.initgroups(uid, gid)
  } catch (error) {
    // An owner that the system has no name for, as in a container, is in no other groups.
    if (errnoCode(error) !== 'ERR_UNKNOWN_CREDENTIAL') throw error
    process.setgroups?.([gid])
  }
}
