// The console of the sources as they are, for hubs and CLIs that run from theirs.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PackedConsole } from '../../src/console-files/packed-console.ts'
import { packConsole } from '../../tools/build/console-bundle.ts'
import { placeConsole } from '../../tools/build/place-console.ts'
import { builtOnce } from './built-once.ts'

const FILE = 'console.json'

export async function builtConsole(): Promise<PackedConsole> {
  const directory = await builtOnce('console', async (staging) => {
    await writeFile(join(staging, FILE), JSON.stringify(await packConsole()))
  })
  return JSON.parse(await readFile(join(directory, FILE), 'utf8')) as PackedConsole
}

export async function placeBuiltConsole(): Promise<void> {
  await placeConsole(await builtConsole())
}
