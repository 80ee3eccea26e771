import { userInfo } from 'node:os'
import { errnoCode } from './errors.ts'

/** The group of nobody, on every Linux. */
const NO_GROUP = 65_534

/**
 * Root takes the groups of a user, and answers the group to become its own: `gid`, the group of the user's directory, when the
 * user is in it, else the user's first. A directory may have any group: root's when only its owner was changed, and
 * the group of the directory that it was made in. The caller calls setegid or setgid next, and only then sets the user.
 */
export function takeGroupsOf(uid: number, gid: number): number {
  // Documented for all Unix systems, but missing from @types/node.
  const unix = process as unknown as { initgroups(user: number, group: number): void }
  const first = firstGroupOf(uid)
  if (first === undefined) {
    // A user that the system has no name for, as in a container, is in no other groups.
    const own = gid === 0 ? NO_GROUP : gid
    process.setgroups?.([own])
    return own
  }
  unix.initgroups(uid, first)
  // What getgroups answers includes the effective group.
  process.setegid?.(first)
  return (process.getgroups?.() ?? []).includes(gid) ? gid : first
}

/** The account's first group; undefined when the account has none. Node knows only the groups of the effective user. */
function firstGroupOf(uid: number): number | undefined {
  process.seteuid?.(uid)
  try {
    return userInfo().gid
  } catch (error) {
    if (errnoCode(error) === 'ERR_SYSTEM_ERROR') return undefined
    throw error
  } finally {
    process.seteuid?.(0)
  }
}
