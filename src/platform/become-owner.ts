import { UserError } from './errors.ts'
import { describeStrangers, findPathHands } from './path-hands.ts'
import { takeGroupsOf } from './take-groups.ts'

/**
 * A program started by root permanently becomes the owner of the directory that it works in (groups, gid, uid), so that
 * it never leaves files there that the owner cannot read, and nothing planted there is followed with root's rights.
 * Does nothing for anyone but root. Throws a UserError when somebody else could put another directory in the place of this
 * one, even before it exists: then root would work where they choose.
 */
export function becomeOwnerOf(directory: string): void {
  if (process.getuid?.() !== 0) return
  const found = findPathHands(directory)
  const stranger = describeStrangers(found)
  if (stranger !== undefined) {
    throw new UserError(
      'directory_open',
      `root does not work in ${directory}: ${stranger} can replace it`,
      { hint: 'only root and its owner may be able to write it and the directories above it' },
    )
  }
  const { end } = found
  if (end === undefined || end.uid === 0) return
  process.setgid?.(takeGroupsOf(end.uid, end.gid))
  process.setuid?.(end.uid)
}
