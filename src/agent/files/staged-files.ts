// A crash between the writing and the renaming of a file leaves `.NAME.….tmp` behind.

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { removeIfPresent } from '../../platform/files.ts'

export async function removeStagedFiles(directory: string): Promise<void> {
  for (const name of await readdir(directory)) {
    if (name.startsWith('.') && name.endsWith('.tmp')) await removeIfPresent(join(directory, name))
  }
}
