// Both packages of a version, built from the sources as `npm run release` does, beside what others build at the time.

import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildAgentExecutable } from '../../../tools/build/agent-executable.ts'
import { bundleProgram, STORE_ADDON } from '../../../tools/build/bundle-program.ts'
import { strippedNode } from '../../../tools/build/runtime.ts'
import { makePackages } from '../../../tools/release/make-packages.ts'
import { ROOT } from '../../../tools/source-files.ts'

const ADDON = `node_modules/better-sqlite3-multiple-ciphers/prebuilds/linux-${process.arch}.node`

/** Returns the packages' paths, which are below `directory`. */
export async function buildPackages(directory: string, version: string): Promise<string[]> {
  const programs = join(directory, version)
  await mkdir(programs)
  const settings = { version, releasePublicKey: undefined }
  await copyFile(join(ROOT, ADDON), join(programs, STORE_ADDON))
  await bundleProgram('src/hub/main.ts', join(programs, 'svc-server.cjs'), settings)
  await bundleProgram('src/admin/main.ts', join(programs, 'svc.cjs'), settings)
  await buildAgentExecutable(join(programs, 'svc-agent'), settings)
  return makePackages({
    programs,
    node: strippedNode(),
    version,
    releasedAt: new Date('2026-01-01T00:00:00Z'),
    outputDirectory: directory,
  })
}
