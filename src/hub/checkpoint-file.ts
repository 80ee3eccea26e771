// The newest checkpoint of the log, kept outside the vault: a person who puts yesterday's vault back cannot put this file back too, when
// it is on another machine. docs/protocol.md CHN-17, CHN-18.

import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { replaceFile, readTextIfPresent, syncDirectory } from '../platform/files.ts'
import type { LogTree } from './domain/log-tree.ts'

export interface CheckpointFile {
  readonly path: string
  /** Undefined when there is none yet. Throws the system's error. */
  read(): Promise<string | undefined>
  write(this: void, tree: Pick<LogTree, 'checkpoint'>): Promise<void>
  /** Keeps what was written as a file of its own, for an inquiry; its path. */
  setAside(now: Date): Promise<string>
}

const BYTES_MAX = 64 * 1024
/** It says nothing but how long the log is. */
const MODE = 0o644

/** One for each vault, so that many may share the directory. */
export function checkpointFile(directory: string, vaultId: string): CheckpointFile {
  const path = join(directory, `${vaultId}.checkpoint`)
  return {
    path,
    read: () => readTextIfPresent(path, BYTES_MAX),
    write: ({ checkpoint }) => replaceFile(path, checkpoint, MODE),
    setAside: async (now) => {
      const aside = `${path}.${now.toISOString().replaceAll(':', '')}`
      await rename(path, aside)
      await syncDirectory(directory)
      return aside
    },
  }
}
