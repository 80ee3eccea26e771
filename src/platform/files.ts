// Files that change as a whole: the new text is written beside the old one, fsynced and renamed over it.

import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { type FileHandle, open, readFile, rename, stat, unlink } from 'node:fs/promises'
import { dirname, join, basename } from 'node:path'
import { errnoCode, SvcError } from './errors.ts'

const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW

/** Writes and fsyncs a file that must not exist yet; its mode is right from the moment it is visible. */
export async function writeNewFile(
  path: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  const file = await open(path, CREATE_NEW, mode)
  await closingAfter(file, async () => {
    await file.writeFile(content)
    // The umask may have taken bits away; it can never have added any.
    await file.chmod(mode)
    await file.sync()
  })
}

/** Replaces `path` atomically and durably: readers see the old or the new content, also after a power cut. */
export async function replaceFile(
  path: string,
  content: string | Uint8Array,
  mode: number,
): Promise<void> {
  const staged = join(dirname(path), `.${basename(path)}.${randomBytes(6).toString('hex')}.tmp`)
  try {
    await writeNewFile(staged, content, mode)
    await rename(staged, path)
  } catch (error) {
    await removeIfPresent(staged)
    throw error
  }
  await syncDirectory(dirname(path))
}

/** Makes what was written into a file by others survive a power cut. */
export async function syncFile(path: string): Promise<void> {
  const file = await open(path, constants.O_RDWR | constants.O_NOFOLLOW)
  await closingAfter(file, () => file.sync())
}

/** Makes the creations, renames and removals in a directory survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY | constants.O_DIRECTORY)
  await closingAfter(directory, () => directory.sync())
}

/** The text of a file, or undefined when there is no such file. A file over the limit is an error, never read whole. */
export async function readTextIfPresent(
  path: string,
  bytesMax: number,
): Promise<string | undefined> {
  try {
    const stats = await stat(path)
    if (stats.isDirectory()) throw directoryInPlaceOf(path)
    const { size } = stats
    if (size > bytesMax) {
      throw new SvcError(
        'file_too_large',
        `${path} has ${size} bytes, more than the ${bytesMax} allowed`,
      )
    }
    return await readFile(path, 'utf8')
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    throw error
  }
}

/** What reading it would throw, with the path that the system leaves out. */
function directoryInPlaceOf(path: string): Error {
  return Object.assign(new Error(`EISDIR: ${path} is a directory`), { code: 'EISDIR', path })
}

export async function removeIfPresent(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (errnoCode(error) !== 'ENOENT') throw error
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await stat(path)
    return true
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return false
    throw error
  }
}

async function closingAfter(handle: FileHandle, work: () => Promise<void>): Promise<void> {
  try {
    await work()
  } finally {
    await handle.close()
  }
}
