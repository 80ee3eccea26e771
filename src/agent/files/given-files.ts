// Files that a setting names: a token, a root certificate. The user who starts the agent may read them. A command that
// root starts becomes the owner of the data directory, who perhaps may not; so root keeps their text first.

import { closeSync, constants, openSync, readSync } from 'node:fs'
import { errnoCode, UserError } from '../../platform/errors.ts'
import { readTextIfPresent } from '../../platform/files.ts'
import { findPathHands } from '../../platform/path-hands.ts'

const STANDARD_INPUT_DESCRIPTOR = 0

/** Of the whole process, as the rights are that it stands in for. */
const kept = new Map<string, string>()

/**
 * For root, before it gives up its rights; the code that needs a file says that it cannot be read. Keeps only what root
 * alone can have put there: the data directory's owner may plant links wherever it can write, to be read with root's rights.
 */
export function keepGivenFile(path: string | undefined, bytesMax: number): void {
  if (path === undefined || process.getuid?.() !== 0) return
  try {
    const { end, hands } = findPathHands(path)
    // A pipe can be read only once.
    if (hands.size > 0 || end?.isFile() !== true) return
    const text = readBounded(path, bytesMax)
    if (text !== undefined) kept.set(path, text)
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
    const text = kept.get(path)
    if (text !== undefined) return text
    throw new UserError('file_unreadable', `read ${path}: permission denied`, {
      cause: error,
      hint: `the agent reads it as user ${process.geteuid?.()}`,
    })
  }
}

/** It is open already, so it does not matter who may open it. */
export function readStandardInput(bytesMax: number): string {
  const bytes = Buffer.alloc(bytesMax + 1)
  let length = 0
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = readSync(STANDARD_INPUT_DESCRIPTOR, bytes, { offset: length })
  }
  if (length <= bytesMax) return bytes.toString('utf8', 0, length)
  throw new UserError(
    'file_too_large',
    `the standard input has more than the ${bytesMax} bytes allowed`,
  )
}

/** However the file grows, which need not be root's. */
function readBounded(path: string, bytesMax: number): string | undefined {
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const bytes = Buffer.alloc(bytesMax + 1)
    const length = readSync(descriptor, bytes)
    return length > bytesMax ? undefined : bytes.toString('utf8', 0, length)
  } finally {
    closeSync(descriptor)
  }
}
