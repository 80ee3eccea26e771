// Checkpoints of the log, kept outside the vault: the newest one, and the one that witnesses of others have signed. A person who puts
// yesterday's vault back cannot put these files back too, when they are on another machine. docs/protocol.md CHN-17, CHN-18.

import { readdir, rename } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { replaceFile, readTextIfPresent, syncDirectory } from '../platform/files.ts'
import type { LogTree } from './domain/log-tree.ts'

export interface CheckpointFiles {
  /** Where the newest one is. */
  readonly newest: string
  /** Those that are there, the newest first. Nothing is checked. Throws the system's error. */
  read(): Promise<readonly KeptCheckpoint[]>
  /** The newest ones of those that were set aside. Nothing is checked. Throws the system's error. */
  readAside(): Promise<readonly string[]>
  write(this: void, tree: Pick<LogTree, 'checkpoint' | 'cosigned'>): Promise<void>
  /** Keeps what was written as files of their own, for an inquiry. */
  setAside(now: Date): Promise<void>
}

export interface KeptCheckpoint {
  readonly path: string
  readonly note: string
}

/** More than any note has, in UTF-8. */
const BYTES_MAX = 256 * 1024
/** They say nothing but how long the log is. */
const MODE = 0o644
/** Both files of twenty epochs, so that the statements which end them are fewer than agents are told of (CHN-19). */
const ASIDE_MAX = 40
/** `setAside` ends the name with the time. */
const ASIDE_TIME = /^\.(\d{4}-\d\d-\d\dT\d{6}\.\d{3}Z)$/

/** Those of each vault, so that many may share the directory. */
export function checkpointFiles(directory: string, vaultId: string): CheckpointFiles {
  const newest = join(directory, `${vaultId}.checkpoint`)
  const cosigned = join(directory, `${vaultId}.cosigned`)
  let written: string | undefined
  const read = async (): Promise<readonly KeptCheckpoint[]> => {
    const kept = [newest, cosigned].map(async (path) => {
      const note = await readTextIfPresent(path, BYTES_MAX)
      return note === undefined ? [] : [{ path, note }]
    })
    return (await Promise.all(kept)).flat()
  }
  return {
    newest,
    read,
    readAside: async () => {
      const names = await readdir(directory)
      const aside = [newest, cosigned].flatMap((path) => {
        const start = basename(path)
        return names
          .filter((name) => name.startsWith(start))
          .map((name) => ({ name, time: ASIDE_TIME.exec(name.slice(start.length))?.[1] ?? '' }))
          .filter(({ time }) => time !== '')
      })
      const latest = aside.toSorted((a, b) => (a.time < b.time ? 1 : -1)).slice(0, ASIDE_MAX)
      const notes = latest.map(({ name }) => readTextIfPresent(join(directory, name), BYTES_MAX))
      return (await Promise.all(notes)).filter((note) => note !== undefined)
    },
    write: async (tree) => {
      if (tree.cosigned !== undefined && tree.cosigned !== written) {
        await replaceFile(cosigned, tree.cosigned, MODE)
        written = tree.cosigned
      }
      await replaceFile(newest, tree.checkpoint, MODE)
    },
    setAside: async (now) => {
      const suffix = now.toISOString().replaceAll(':', '')
      // The newest one last: until it is aside, the vault is refused.
      for (const { path } of (await read()).toReversed()) await rename(path, `${path}.${suffix}`)
      await syncDirectory(directory)
    },
  }
}
