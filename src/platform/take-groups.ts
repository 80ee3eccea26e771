import { userInfo } from 'node:os'
import { errnoCode } from './errors.ts'

/** The group of nobody, on every Linux. */
const NO_GROUP = 65_534

/**
 * Root takes the groups of a user, and answers the one to be its own: `gid`, that of the user's directory, when the
 * user is in it, else the user's first. A directory may have any group: root's when only its owner was changed, and
 * that of whatever directory it was made in. To be followed by setegid or setgid, and only then by the user.
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

/** Of the account; undefined when there is none. Node knows no other than that of the effective user. */
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
