// Where a hub that runs from its source finds the console.

import { mkdir, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { PackedConsole } from '../../src/console-files/packed-console.ts'
import { ROOT } from '../source-files.ts'

const PATH = join(ROOT, 'dist/console.json')

/** A hub sees the one before or this one, never a part of it. */
export async function placeConsole(packed: PackedConsole): Promise<void> {
  await mkdir(dirname(PATH), { recursive: true })
  const staged = `${PATH}.${process.pid}`
  await writeFile(staged, JSON.stringify(packed))
  await rename(staged, PATH)
}
