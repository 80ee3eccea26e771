// Both packages of a version, built from the sources as `npm run release` does, once in a run of the tests.

import { hash } from 'node:crypto'
import { copyFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { buildAgentExecutable } from '../../../tools/build/agent-executable.ts'
import { bundleProgram, STORE_ADDON } from '../../../tools/build/bundle-program.ts'
import { ownArchitecture } from '../../../tools/build/architecture.ts'
import { strippedNode } from '../../../tools/build/runtime.ts'
import { copyStoreAddon } from '../../../tools/build/store-addon.ts'
import { makePackages } from '../../../tools/release/make-packages.ts'
import { builtConsole } from '../../support/built-console.ts'
import { builtOnce } from '../../support/built-once.ts'

/** Returns the packages' paths, which are below `directory`. */
export async function buildPackages(
  directory: string,
  version: string,
  releasePublicKey?: string,
): Promise<string[]> {
  const built = await builtOnce(nameOf('packages', version, releasePublicKey), async (staging) => {
    await makePackages({
      programs: await buildPrograms(version, releasePublicKey),
      node: strippedNode(),
      version,
      releasedAt: new Date('2026-01-01T00:00:00Z'),
      outputDirectory: staging,
    })
  })
  const names = await readdir(built)
  return Promise.all(
    names.map(async (name) => {
      const path = join(directory, name)
      await copyFile(join(built, name), path)
      return path
    }),
  )
}

/** What goes into them. Returns its directory, which is not the caller's. */
export function buildPrograms(version: string, releasePublicKey?: string): Promise<string> {
  return builtOnce(nameOf('programs', version, releasePublicKey), async (programs) => {
    const settings = { version, releasePublicKey, console: await builtConsole() }
    await copyStoreAddon(join(programs, STORE_ADDON), ownArchitecture())
    await bundleProgram('src/hub/main.ts', join(programs, 'svc-server.cjs'), settings)
    await bundleProgram('src/admin/main.ts', join(programs, 'svc.cjs'), settings)
    await buildAgentExecutable(join(programs, 'svc-agent'), settings)
  })
}

function nameOf(what: string, version: string, releasePublicKey = ''): string {
  return `${what}-${version}-${hash('sha256', releasePublicKey).slice(0, 16)}`
}
