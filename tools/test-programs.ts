// The programs of bin/ as one file each, for a tier of the tests: such a program starts in less than half of the CPU time, and
// the tests start a thousand of them. `npm run demo`, and files that somebody names, run the sources.

import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { PackedConsole } from '../src/console-files/packed-console.ts'
import { invariant } from '../src/platform/errors.ts'
import { readVersion } from '../src/platform/version.ts'
import { builtConsole } from '../test/support/built-console.ts'
import { ownArchitecture } from './build/architecture.ts'
import { bundleProgram, STORE_ADDON } from './build/bundle-program.ts'
import { copyStoreAddon } from './build/store-addon.ts'
import { ROOT } from './source-files.ts'

const DIRECTORY = join(ROOT, 'node_modules', '.cache', 'test-programs')
const PROGRAMS = ['svc', 'svc-agent', 'svc-ca', 'svc-server'] as const
/** A bundle has nothing beside it that it could read. */
const WITH_CONSOLE: ReadonlySet<string> = new Set(['svc', 'svc-server'])
const OWN_PLACE = 'root=$(dirname "$(dirname "$(readlink -f "$0")")")'

/** The directory that has them, for TEST_BUNDLES: tests treat them as the programs of bin/. */
export async function makeTestPrograms(): Promise<string> {
  await mkdir(DIRECTORY, { recursive: true })
  await copyStoreAddon(join(DIRECTORY, STORE_ADDON), ownArchitecture())
  const packed = await builtConsole()
  await Promise.all(
    PROGRAMS.map((name) => makeProgram(name, WITH_CONSOLE.has(name) ? packed : undefined)),
  )
  return DIRECTORY
}

/** Its launcher is that of bin/, but for what it starts. */
async function makeProgram(name: string, console: PackedConsole | undefined): Promise<void> {
  const launcher = await readFile(join(ROOT, 'bin', name), 'utf8')
  const [, entry] = /"\$root\/(src\/[a-z-]+\/main\.ts)"/.exec(launcher) ?? []
  invariant(
    entry !== undefined && launcher.includes(OWN_PLACE),
    `bin/${name} is as its bundle needs`,
  )
  const bundle = join(DIRECTORY, `${name}.cjs`)
  await bundleProgram(entry, bundle, {
    version: readVersion(),
    releasePublicKey: undefined,
    console,
  })
  const text = launcher
    .replace(OWN_PLACE, `root=${ROOT}`)
    .replace(`"$root/${entry}"`, `"${bundle}"`)
  await writeFile(join(DIRECTORY, name), text, { mode: 0o755 })
}
