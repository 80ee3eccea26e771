// The files around an executable that is updated, and the operations that change them: a port, so that a test can stop
// the world before any of them.

import { link, rename } from 'node:fs/promises'
import { removeIfPresent, syncDirectory, writeNewFile } from '../../platform/files.ts'

export interface UpdateNames {
  readonly binary: string
  /** The new one, until it has taken the place of the old. */
  readonly staged: string
  /** The one that ran before. */
  readonly old: string
  readonly oldStaged: string
  /** Tells the watcher that a new version has to prove itself. */
  readonly marker: string
  readonly markerStaged: string
  /** The process that changes any of these files holds it, and removes it afterwards. */
  readonly lock: string
}

export interface UpdateFiles {
  /** Durable when it resolves, but for its name. */
  writeNewFile(path: string, content: string | Uint8Array, mode: number): Promise<void>
  link(from: string, to: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  removeIfPresent(path: string): Promise<void>
  syncDirectory(path: string): Promise<void>
}

export const nodeUpdateFiles: UpdateFiles = {
  writeNewFile,
  link,
  rename,
  removeIfPresent,
  syncDirectory,
}

export function updateNames(binary: string): UpdateNames {
  return {
    binary,
    staged: `${binary}.new`,
    old: `${binary}.old`,
    oldStaged: `${binary}.old.tmp`,
    marker: `${binary}.update`,
    markerStaged: `${binary}.update.tmp`,
    lock: `${binary}.lock`,
  }
}
