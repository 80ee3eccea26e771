// What the agent has installed, as root reads it beside an agent that it does not trust: with the rights of the agent's
// own user, so that no planted link leads anywhere that the agent could not go, and bounded, so that nothing planted
// holds it up.

import { closeSync, constants, fstatSync, openSync, readlinkSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { errnoCode } from '../../platform/errors.ts'
import type { VersionedLayout } from '../files/versioned-files.ts'
import type { FileOwner } from '../files/act-as.ts'
import { readTrustedDirectories } from '../files/trusted-path.ts'

const CHUNK_BYTES = 64 * 1024
const VERSION_NAME = /^\d{6,12}$/
/** Never through a link, never waiting for the other end of a FIFO, never taking a terminal. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

/** Links are no danger to those who can follow none but their own; when the files are root's, nobody may plant any. */
export async function findMistrust(
  owner: FileOwner,
  directories: readonly string[],
): Promise<string | undefined> {
  if (process.geteuid?.() !== 0 || owner.uid !== 0) return undefined
  for (const directory of directories) {
    const trusted = await readTrustedDirectories(directory, owner.uid)
    if (!trusted.ok) return trusted.reason
  }
  return undefined
}

/** Read once, so that all files are of one version, whatever is switched meanwhile. */
export function currentVersion({ directory, versionsPath }: VersionedLayout): string | undefined {
  const versions = join(directory, versionsPath)
  const current = join(versions, 'current')
  try {
    const target = readlinkSync(current)
    if (!VERSION_NAME.test(target)) throw new Error(`${current} does not lead to a version`)
    return join(versions, target)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** Regular, the owner's, and not over the bound; throws what is wrong. */
export function readOwnedFile({ uid }: FileOwner, path: string, bytesMax: number): Buffer {
  const descriptor = openSync(path, READ)
  try {
    const stats = fstatSync(descriptor)
    if (!stats.isFile()) throw new Error(`${path} is not a regular file`)
    if (stats.uid !== uid) throw new Error(`${path} belongs to user ${stats.uid}`)
    return readBounded(descriptor, path, bytesMax)
  } finally {
    closeSync(descriptor)
  }
}

/** However long the file says it is, and however it grows. */
function readBounded(descriptor: number, path: string, bytesMax: number): Buffer {
  const chunks: Buffer[] = []
  for (let length = 0; ;) {
    const chunk = Buffer.alloc(CHUNK_BYTES)
    const count = readSync(descriptor, chunk)
    if (count === 0) return Buffer.concat(chunks)
    chunks.push(chunk.subarray(0, count))
    length += count
    if (length > bytesMax) throw new Error(`${path} has more than ${bytesMax} bytes`)
  }
}

/** A parser's own message may quote what it was given, which may be a key. */
export function wordedAs<T>(message: string, parse: () => T): T {
  try {
    return parse()
  } catch {
    throw new Error(message)
  }
}
