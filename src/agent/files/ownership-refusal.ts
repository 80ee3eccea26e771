import type { Stats } from 'node:fs'

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
