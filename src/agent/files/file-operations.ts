// The file operations that a change of version is made of: a port, so that a test can stop the world before any of them.

import { join } from 'node:path'
import { chmod, lstat, mkdir, readdir, readlink, rename, rm, symlink } from 'node:fs/promises'
import { errnoCode } from '../../platform/errors.ts'
import { removeIfPresent, syncDirectory, writeNewFile } from '../../platform/files.ts'

export type FileKind = 'nothing' | 'directory' | 'link' | 'file' | 'other'

export interface FileOperations {
  /** Of the name itself, never of what a link leads to. */
  kindOf(path: string): Promise<FileKind>
  list(path: string): Promise<string[]>
  readLink(path: string): Promise<string>
  makeDirectory(path: string, mode: number): Promise<void>
  makeLink(target: string, path: string): Promise<void>
  /** Durable when it resolves. */
  writeNewFile(path: string, content: string | Uint8Array, mode: number): Promise<void>
  rename(from: string, to: string): Promise<void>
  syncDirectory(path: string): Promise<void>
  removeTree(path: string): Promise<void>
}

export const nodeFileOperations: FileOperations = {
  async kindOf(path) {
    try {
      const stats = await lstat(path)
      if (stats.isDirectory()) return 'directory'
      if (stats.isSymbolicLink()) return 'link'
      return stats.isFile() ? 'file' : 'other'
    } catch (error) {
      if (errnoCode(error) === 'ENOENT') return 'nothing'
      throw error
    }
  },
  list: (path) => readdir(path),
  readLink: (path) => readlink(path),
  async makeDirectory(path, mode) {
    await mkdir(path, { mode })
    // The umask may have taken bits away; it can never have added any.
    await chmod(path, mode)
  },
  makeLink: (target, path) => symlink(target, path),
  writeNewFile,
  rename,
  syncDirectory,
  removeTree: (path) => rm(path, { recursive: true, force: true }),
}

/** A crash between the writing and the renaming of a file leaves `.NAME.….tmp` behind. */
export async function removeStagedFiles(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith('.') && name.endsWith('.tmp')) await removeIfPresent(join(directory, name))
  }
}
