// Remembered acts as files beside the checkpoint, outside the vault: `<vault id>.acts.<epoch>.<entry>`. docs/protocol.md BKP-15.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readTextIfPresent, removeIfPresent, replaceFile } from '../platform/files.ts'
import type { ActFileName, ActFiles } from './service/upkeep/act-keeper.ts'

const BYTES_MAX = 256 * 1024
/** It has names of hosts. */
const MODE = 0o600
const EPOCH_DIGITS = 12
const ENTRY_DIGITS = 15

export function actsDirectory(directory: string, vaultId: string): ActFiles {
  const start = `${vaultId}.acts.`
  const pathOf = ({ epoch, after }: ActFileName): string => {
    const numbers = [pad(epoch, EPOCH_DIGITS), pad(after, ENTRY_DIGITS)]
    return join(directory, `${start}${numbers.join('.')}`)
  }
  return {
    list: async () => {
      const names = (await readdir(directory)).filter((name) => name.startsWith(start))
      return names.sort().flatMap((name) => parseName(name.slice(start.length)) ?? [])
    },
    read: (name) => readTextIfPresent(pathOf(name), BYTES_MAX),
    write: (name, note) => replaceFile(pathOf(name), note, MODE),
    remove: (name) => removeIfPresent(pathOf(name)),
  }
}

/** All that are there, in their order. */
export async function readActNotes(files: ActFiles): Promise<readonly string[]> {
  const notes: string[] = []
  for (const name of await files.list()) {
    const note = await files.read(name)
    if (note !== undefined) notes.push(note)
  }
  return notes
}

function parseName(text: string): ActFileName | undefined {
  const [, epoch, after] = /^(\d{12})\.(\d{15})$/.exec(text) ?? []
  return epoch === undefined ? undefined : { epoch: Number(epoch), after: Number(after) }
}

function pad(number: number, digits: number): string {
  return String(number).padStart(digits, '0')
}
