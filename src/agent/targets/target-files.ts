// The file operations that applying a target is made of: a port, so that a test can stop the world before any of them.

import { hash } from 'node:crypto'
import { constants, mkdirSync } from 'node:fs'
import { type FileHandle, open, readdir, rename, rm } from 'node:fs/promises'
import { errnoCode, SvcError } from '../../platform/errors.ts'
import { removeIfPresent, syncDirectory } from '../../platform/files.ts'

export interface FileOwnership {
  readonly uid: number
  readonly gid: number
  /** Permission bits. */
  readonly mode: number
}

export interface FileImage extends FileOwnership {
  readonly content: Uint8Array
}

/** A file that is being made: nobody but its maker can read it until `setMode`. */
export interface NewFile {
  write(content: Uint8Array): Promise<void>
  setOwner(uid: number, gid: number): Promise<void>
  setMode(mode: number): Promise<void>
  sync(): Promise<void>
  close(): Promise<void>
}

export interface TargetFileOperations {
  /** Undefined when there is none; throws UnexpectedFileError for what is not a plain file of at most `bytesMax`. */
  read(path: string, bytesMax: number): Promise<FileImage | undefined>
  /** With mode 0600; throws when anything stands there. */
  create(path: string): Promise<NewFile>
  rename(from: string, to: string): Promise<void>
  /** What is not there is removed already. */
  remove(path: string): Promise<void>
  removeTree(path: string): Promise<void>
  /** One that is there stays as it is. */
  makeDirectory(path: string, mode: number): Promise<void>
  /** Empty when the directory is not there. */
  list(path: string): Promise<string[]>
  syncDirectory(path: string): Promise<void>
}

export class UnexpectedFileError extends SvcError {
  override name = 'UnexpectedFileError'
  constructor(path: string, why: string) {
    super('unexpected_file', `${path} ${why}`)
  }
}

export function sha256Of(content: Uint8Array): string {
  return hash('sha256', content, 'hex')
}

/** Makes a whole file with its owner and mode, durably; it is nobody else's until all of it is there. */
export async function createFile(
  files: TargetFileOperations,
  path: string,
  { content, uid, gid, mode }: FileImage,
): Promise<void> {
  const file = await files.create(path)
  try {
    await file.write(content)
    await file.setOwner(uid, gid)
    await file.setMode(mode)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Replaces a file of our own as a whole; `ownership` is the one who applies. */
export async function replaceStateFile(
  files: TargetFileOperations,
  directory: string,
  name: string,
  text: string,
): Promise<void> {
  const staged = `${directory}/.${name}.tmp`
  await files.remove(staged)
  const file = await files.create(staged)
  try {
    await file.write(Buffer.from(text))
    await file.sync()
  } finally {
    await file.close()
  }
  await files.rename(staged, `${directory}/${name}`)
  await files.syncDirectory(directory)
}

const READ_PLAIN = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK
const CREATE_NEW = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
const PERMISSION_BITS = 0o7777

export const nodeTargetFiles: TargetFileOperations = {
  async read(path, bytesMax) {
    const file = await openPlain(path)
    if (file === undefined) return undefined
    try {
      const { uid, gid, mode, size } = await checkedStat(file, path, bytesMax)
      const content = Buffer.alloc(size)
      const { bytesRead } = await file.read(content, 0, size, 0)
      return { content: content.subarray(0, bytesRead), uid, gid, mode: mode & PERMISSION_BITS }
    } finally {
      await file.close()
    }
  },
  async create(path) {
    const file = await open(path, CREATE_NEW, 0o600)
    return {
      write: (content) => file.writeFile(content),
      setOwner: (uid, gid) => file.chown(uid, gid),
      setMode: (mode) => file.chmod(mode),
      sync: () => file.sync(),
      close: () => file.close(),
    }
  },
  rename,
  remove: removeIfPresent,
  removeTree: (path) => rm(path, { recursive: true, force: true }),
  async makeDirectory(path, mode) {
    // At once, so that the mask is lifted for nothing else; a second call for the mode might never come.
    const mask = process.umask(0)
    try {
      mkdirSync(path, { mode })
    } catch (error) {
      if (errnoCode(error) !== 'EEXIST') throw error
    } finally {
      process.umask(mask)
    }
  },
  async list(path) {
    try {
      return await readdir(path)
    } catch (error) {
      if (errnoCode(error) === 'ENOENT') return []
      throw error
    }
  },
  syncDirectory,
}

async function openPlain(path: string): Promise<FileHandle | undefined> {
  try {
    return await open(path, READ_PLAIN)
  } catch (error) {
    if (errnoCode(error) === 'ENOENT') return undefined
    if (errnoCode(error) === 'ELOOP') throw new UnexpectedFileError(path, 'is a symbolic link')
    if (errnoCode(error) === 'ENXIO') throw new UnexpectedFileError(path, 'is not a plain file')
    throw error
  }
}

async function checkedStat(file: FileHandle, path: string, bytesMax: number) {
  const stats = await file.stat()
  if (!stats.isFile()) throw new UnexpectedFileError(path, 'is not a plain file')
  if (stats.size > bytesMax) throw new UnexpectedFileError(path, `has over ${bytesMax} bytes`)
  return stats
}
