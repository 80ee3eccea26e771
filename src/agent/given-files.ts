// Files that a setting names: a token, a root certificate. Whoever starts the agent may read them; the owner of the
// data directory, whom a command started by root becomes, perhaps may not. So root keeps their text before it does.

import { readFileSync, realpathSync, statSync } from 'node:fs'
import { relative } from 'node:path'
import { errnoCode, UserError } from '../platform/errors.ts'
import { readTextIfPresent } from '../platform/files.ts'

/** Of the whole process, as the rights are that it stands in for. */
const kept = new Map<string, string>()

/** For root, before it gives up its rights; what cannot be read is told by whoever needs it. */
export function keepGivenFile(path: string | undefined, dataDir: string, bytesMax: number): void {
  if (path === undefined || process.getuid?.() !== 0) return
  try {
    // What is there may have been planted by its owner, to be read with root's rights.
    if (isBelow(dataDir, path) || isBelow(realpathSync(dataDir), path)) return
    const stats = statSync(path)
    // A pipe can be read only once.
    if (stats.isFile() && stats.size <= bytesMax) kept.set(path, readFileSync(path, 'utf8'))
  } catch {
    // Missing, most likely.
  }
}

/** The text as it is now, else as root found it at the start; undefined when there is no such file. */
export async function readGivenFile(path: string, bytesMax: number): Promise<string | undefined> {
  try {
    return await readTextIfPresent(path, bytesMax)
  } catch (error) {
    if (errnoCode(error) !== 'EACCES') throw error
    const text = kept.get(path)
    if (text !== undefined) return text
    throw new UserError('file_unreadable', `read ${path}: permission denied`, {
      cause: error,
      hint: `the agent reads it as user ${process.geteuid?.()}`,
    })
  }
}

function isBelow(directory: string, path: string): boolean {
  return !/^\.\.(?:\/|$)/.test(relative(directory, path))
}
