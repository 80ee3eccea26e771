import { copyFile, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ROOT } from '../source-files.ts'
import type { Architecture } from './architecture.ts'

const PREBUILDS = join(ROOT, 'node_modules/better-sqlite3-multiple-ciphers/prebuilds')

/** The encrypted store's addon, which the package has for every architecture. */
export async function copyStoreAddon(path: string, architecture: Architecture): Promise<void> {
  const staged = join(dirname(path), `.${basename(path)}.tmp`)
  await copyFile(join(PREBUILDS, `linux-${architecture}.node`), staged)
  await rename(staged, path)
}
