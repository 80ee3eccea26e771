// Files that a person names, read whole at once: whatever the name leads to, it cannot hold a program up or fill its memory.

import { closeSync, constants, fstatSync, openSync, readSync, type Stats } from 'node:fs'
import { UserError } from './errors.ts'

export interface SmallFile {
  readonly text: string
  /** Of the file that was read, whatever its name leads to afterwards. */
  readonly stats: Stats
}

/** Throws a UserError for what is no file and for what is too large, and what the system says when it cannot be opened. */
export function readSmallFile(path: string, bytesMax: number): SmallFile {
  const { bytes, stats } = readSmallBytes(path, bytesMax)
  return { text: bytes.toString('utf8'), stats }
}

/** The same of a file that need be no text. */
export function readSmallBytes(
  path: string,
  bytesMax: number,
): { readonly bytes: Buffer; readonly stats: Stats } {
  // Not waited for: a pipe in the place of the file would never end.
  const descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw new UserError('file_invalid', `${path} is not a file`)
    return { bytes: readBytesUpTo(descriptor, bytesMax, path), stats }
  } finally {
    closeSync(descriptor)
  }
}

/** Until the end, however what is read grows meanwhile; throws a UserError that gives it `name` when it is longer. */
export function readUpTo(descriptor: number, bytesMax: number, name: string): string {
  return readBytesUpTo(descriptor, bytesMax, name).toString('utf8')
}

function readBytesUpTo(descriptor: number, bytesMax: number, name: string): Buffer {
  const bytes = Buffer.alloc(bytesMax + 1)
  let length = 0
  for (let read = -1; read !== 0 && length < bytes.length; length += read) {
    read = readSync(descriptor, bytes, { offset: length })
  }
  if (length <= bytesMax) return bytes.subarray(0, length)
  throw new UserError('file_too_large', `${name} has more than the ${bytesMax} bytes allowed`)
}
