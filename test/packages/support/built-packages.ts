// Both packages of a version, built from the sources as `npm run release` does, beside what others build at the time.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildAgentExecutable } from '../../../tools/build/agent-executable.ts'
import { bundleProgram, STORE_ADDON } from '../../../tools/build/bundle-program.ts'
import { packConsole } from '../../../tools/build/console-bundle.ts'
import { ownArchitecture } from '../../../tools/build/architecture.ts'
import { strippedNode } from '../../../tools/build/runtime.ts'
import { copyStoreAddon } from '../../../tools/build/store-addon.ts'
import { makePackages } from '../../../tools/release/make-packages.ts'

/** Returns the packages' paths, which are below `directory`. */
export async function buildPackages(
  directory: string,
  version: string,
  releasePublicKey?: string,
): Promise<string[]> {
  return makePackages({
    programs: await buildPrograms(directory, version, releasePublicKey),
    node: strippedNode(),
    version,
    releasedAt: new Date('2026-01-01T00:00:00Z'),
    outputDirectory: directory,
  })
}

/** What goes into them. Returns its directory, which is below `directory`. */
export async function buildPrograms(
  directory: string,
  version: string,
  releasePublicKey?: string,
): Promise<string> {
  const programs = join(directory, version)
  await mkdir(programs)
  const settings = { version, releasePublicKey, console: await packConsole() }
  await copyStoreAddon(join(programs, STORE_ADDON), ownArchitecture())
  await bundleProgram('src/hub/main.ts', join(programs, 'svc-server.cjs'), settings)
  await bundleProgram('src/admin/main.ts', join(programs, 'svc.cjs'), settings)
  await buildAgentExecutable(join(programs, 'svc-agent'), settings)
  return programs
}
