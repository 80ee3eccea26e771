// What is below the data directory may have been planted by its owner, and is met with the owner's rights.

import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { errnoCode } from '../../platform/errors.ts'
import { describeStrangers, findPathHands } from '../../platform/path-hands.ts'
import { actAs } from '../files/act-as.ts'

/** Never through a link, never waiting for the other end of a FIFO, never taking a terminal. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

/** Undefined, and nothing is done, when others than its owner and root could put another directory there. */
export async function asOwnerOf<T>(
  dataDir: string,
  work: () => Promise<T>,
): Promise<T | undefined> {
  const found = findPathHands(dataDir)
  // Who could put another one there would choose whose rights we take.
  if (found.end === undefined || describeStrangers(found) !== undefined) return undefined
  return actAs({ uid: found.end.uid, gid: found.end.gid }, work)
}

/** Undefined for what is no file, and for what is not there. */
export function readBounded(path: string, bytesMax: number): string | undefined {
  try {
    const descriptor = openSync(path, READ)
    try {
      if (!fstatSync(descriptor).isFile()) return undefined
      const bytes = Buffer.alloc(bytesMax)
      return bytes.toString('utf8', 0, readSync(descriptor, bytes))
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    // An agent that never ran, or that we may not look at.
    if (['ENOENT', 'EACCES', 'ELOOP'].includes(errnoCode(error) ?? '')) return undefined
    throw error
  }
}
