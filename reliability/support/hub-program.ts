// The hub as it is released, in one file: it starts in half the time of its sources, and a row starts it a thousand
// times.

import { copyFile, mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { readVersion } from '../../src/platform/version.ts'
import { bundleProgram, STORE_ADDON } from '../../tools/build/bundle-program.ts'
import { pinnedNode } from '../../tools/build/runtime.ts'
import { ROOT } from '../../tools/source-files.ts'

const ADDON = `node_modules/better-sqlite3-multiple-ciphers/prebuilds/${process.platform}-${process.arch}.node`

/** The path of the program, below that directory. */
export async function buildHubProgram(directory: string): Promise<string> {
  const place = join(directory, 'program')
  await mkdir(place, { recursive: true })
  await copyFile(join(ROOT, ADDON), join(place, STORE_ADDON))
  const bundle = join(place, 'svc-server.cjs')
  await bundleProgram('src/hub/main.ts', bundle, {
    version: readVersion(),
    releasePublicKey: undefined,
  })
  const program = join(place, 'svc-server')
  const launcher = `#!/bin/sh\nulimit -c 0\nexec '${pinnedNode()}' '${bundle}' "$@"\n`
  await writeFile(program, launcher, { mode: 0o755 })
  return program
}
