// Files that a setting names: a token, a root certificate. The user who starts the agent may read them. A command that
// root starts becomes the owner of the data directory, who perhaps may not; so root keeps their text first.

import { errnoCode, UserError } from '../../platform/errors.ts'
import { readTextIfPresent } from '../../platform/files.ts'
import { findPathHands } from '../../platform/path-hands.ts'
import { readSmallFile, readUpTo } from '../../platform/small-file.ts'

const STANDARD_INPUT_DESCRIPTOR = 0

/** Of the whole process, as the rights are that it stands in for. */
const kept = new Map<string, string | undefined>()

/**
 * For root, before it gives up its rights; the code that needs a file says that it cannot be read. Keeps only what root
 * alone can have put there: the data directory's owner may plant links wherever it can write, to be read with root's rights.
 */
export function keepGivenFile(path: string | undefined, bytesMax: number): void {
  if (path === undefined || process.getuid?.() !== 0) return
  try {
    const { end, hands } = findPathHands(path)
    // A pipe can be read only once, and its writer notices who opens it.
    if (hands.size > 0 || end?.isFile() === false) return
    kept.set(path, end && readSmallFile(path, bytesMax).text)
  } catch {
    // Not to be read, most likely.
  }
}

/** The text as it is now, else as root found it at the start; undefined when there is no such file. */
export async function readGivenFile(path: string, bytesMax: number): Promise<string | undefined> {
  try {
    return await readTextIfPresent(path, bytesMax)
  } catch (error) {
    if (errnoCode(error) !== 'EACCES') throw error
    if (kept.has(path)) return kept.get(path)
    throw new UserError('file_unreadable', `read ${path}: permission denied`, {
      cause: error,
      hint: `the agent reads it as user ${process.geteuid?.()}`,
    })
  }
}

/** It is open already, so it does not matter who may open it. */
export function readStandardInput(bytesMax: number): string {
  return readUpTo(STANDARD_INPUT_DESCRIPTOR, bytesMax, 'the standard input')
}
