// `npm run build:console`: the console for a hub that runs from its source, below dist/.

import { runProgram } from '../src/platform/program.ts'
import { packConsole } from './build/console-bundle.ts'
import { placeConsole } from './build/place-console.ts'

await runProgram('build-console', async () => {
  const packed = await packConsole({ isReadable: process.argv.includes('--readable') })
  await placeConsole(packed)
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
