// A place for tests of what refuses others' places: where nobody but this user and root may put anything, all the way up.

import { statSync } from 'node:fs'
import { chmod, mkdtemp } from 'node:fs/promises'
import { userInfo } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url))
const uid = process.getuid?.()
/** Not HOME: that may be below /tmp, where everyone may write. */
const candidates = uid === 0 ? ['/var/lib'] : [...accountHome(), MODULES]
const place = candidates.find(isOwn)

/** For `describe` and `test`: without such a place they skip. */
export const WITH_OWN_PLACE: { readonly skip: string | false } = {
  skip: place === undefined && `others may write in ${candidates.join(' and ')}, or above`,
}

/** A new directory there, which others may enter; for the caller to remove. */
export async function makeOwnDirectory(prefix: string): Promise<string> {
  if (place === undefined) throw new Error(`others may write in ${candidates.join(' and ')}`)
  const directory = await mkdtemp(join(place, prefix))
  await chmod(directory, 0o755)
  return directory
}

/** A user need not have an account. */
function accountHome(): string[] {
  try {
    return [userInfo().homedir]
  } catch {
    return []
  }
}

function isOwn(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (stats === undefined) return false
  const isClosed = (stats.uid === 0 || stats.uid === uid) && (stats.mode & 0o022) === 0
  return isClosed && (path === dirname(path) || isOwn(dirname(path)))
}
