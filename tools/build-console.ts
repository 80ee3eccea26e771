// `npm run build:console`: the console for a hub that runs from its source, below dist/.

import { mkdir, rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from '../src/platform/program.ts'
import { packConsole } from './build/console-bundle.ts'
import { ROOT } from './source-files.ts'

await runProgram('build-console', async () => {
  const packed = await packConsole({ isReadable: process.argv.includes('--readable') })
  const directory = join(ROOT, 'dist')
  await mkdir(directory, { recursive: true })
  const path = join(directory, 'console.json')
  const staged = `${path}.${process.pid}`
  await writeFile(staged, JSON.stringify(packed))
  await rename(staged, path)
  for (const { name, gzip, brotli } of packed.files) {
    const [gzipBytes, brotliBytes] = [gzip, brotli].map(
      (text) => Buffer.from(text, 'base64').length,
    )
    process.stdout.write(
      `${name.padEnd(34)} ${kilobytes(gzipBytes)} gzip ${kilobytes(brotliBytes)} brotli\n`,
    )
  }
})

function kilobytes(bytes = 0): string {
  return `${(bytes / 1000).toFixed(1).padStart(6)} kB`
}
