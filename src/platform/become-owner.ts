import { statSync } from 'node:fs'

/**
 * A program started by root becomes, for good, the owner of the directory that it works in (groups, gid, uid), so that
 * it never leaves files there that the owner cannot read, and nothing planted there is followed with root's rights.
 * Does nothing for anyone but root, or when the directory does not exist.
 */
export function becomeOwnerOf(directory: string): void {
  if (process.getuid?.() !== 0) return
  const stats = statSync(directory, { throwIfNoEntry: false })
  if (stats === undefined || stats.uid === 0) return
  // Documented for all Unix systems, but missing from @types/node.
  const unix = process as unknown as { initgroups(user: number, group: number): void }
  unix.initgroups(stats.uid, stats.gid)
  process.setgid?.(stats.gid)
  process.setuid?.(stats.uid)
}
