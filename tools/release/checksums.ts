// SHA256SUMS, for `sha256sum -c`.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'

const NAME = 'SHA256SUMS'

/** Of every file that is in the directory now, in name order. */
export async function writeChecksums(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name !== NAME).toSorted()
  const lines: string[] = []
  for (const name of names) {
    const hash = createHash('sha256')
    await pipeline(createReadStream(join(directory, name)), hash)
    lines.push(`${hash.digest('hex')}  ${name}\n`)
  }
  await writeFile(join(directory, NAME), lines.join(''))
}
