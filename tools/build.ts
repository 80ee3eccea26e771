// `npm run build`: the release artefacts, below dist/.
//
//   svc-agent               one executable file, with its own Node inside
//   svc                     the CLI alone, one executable file: it works with --hub only
//   svc-server.cjs svc.cjs  hub and CLI, one file each, for Node 24; better-sqlite3.node has to lie beside them
//
// SVC_RELEASE_PUBLIC_KEY is the base64 line of the minisign .pub file that `svc-agent self-update` trusts;
// SVC_BUILD_VERSION replaces the version of package.json, for tests.

import { execFileSync } from 'node:child_process'
import { mkdir, stat } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { invariant } from '../src/platform/errors.ts'
import { runProgram } from '../src/platform/program.ts'
import { ownArchitecture } from './build/architecture.ts'
import { buildAgentExecutable } from './build/agent-executable.ts'
import { type BuildSettings, parseBuildSettings } from './build/build-settings.ts'
import { buildCliExecutable } from './build/cli-executable.ts'
import { bundleProgram, STORE_ADDON } from './build/bundle-program.ts'
import { packConsole } from './build/console-bundle.ts'
import { pinnedNode } from './build/runtime.ts'
import { copyStoreAddon } from './build/store-addon.ts'
import { ROOT } from './source-files.ts'

const DIST = join(ROOT, 'dist')
const CLEAN_ENVIRONMENT = {}

await runProgram('build', async () => {
  const settings = parseBuildSettings(process.env)
  const { version, releasePublicKey } = settings
  process.stdout.write(`Cartorio ${version} for ${process.platform}-${process.arch}\n`)
  if (releasePublicKey === undefined) {
    process.stderr.write('build: no SVC_RELEASE_PUBLIC_KEY: svc-agent will refuse self-update\n')
  }
  await mkdir(DIST, { recursive: true })
  await artefact(STORE_ADDON, (path) => copyStoreAddon(path, ownArchitecture()))
  const serving = { ...settings, console: await packConsole() }
  await artefact('svc-server.cjs', (path) => bundleProgram('src/hub/main.ts', path, serving))
  await artefact('svc.cjs', (path) => bundleProgram('src/admin/main.ts', path, serving))
  await artefact('svc-agent', (path) => buildAgentExecutable(path, settings))
  await artefact('svc', (path) => buildCliExecutable(path, settings))
  checkVersions(settings)
  process.stdout.write(
    'all of them start and say their version: dist/svc-agent and dist/svc by themselves, the others by Node 24 (node dist/svc.cjs)\n',
  )
})

async function artefact(name: string, make: (path: string) => Promise<void>): Promise<void> {
  const startedAt = performance.now()
  const path = join(DIST, name)
  await make(path)
  const { size } = await stat(path)
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  const megabytes = (size / 1_000_000).toFixed(1).padStart(6)
  process.stdout.write(
    `${relative(ROOT, path).padEnd(26)} ${megabytes} MB ${seconds.padStart(5)} s\n`,
  )
}

/** As they will run: from where they lie, with an empty environment. */
function checkVersions({ version }: BuildSettings): void {
  const commands = [
    [join(DIST, 'svc-agent')],
    [join(DIST, 'svc')],
    [pinnedNode(), join(DIST, 'svc-server.cjs')],
    [pinnedNode(), join(DIST, 'svc.cjs')],
  ]
  for (const [program = '', ...args] of commands) {
    const printed = execFileSync(program, [...args, '--version'], {
      cwd: '/',
      env: CLEAN_ENVIRONMENT,
      encoding: 'utf8',
    })
    invariant(printed.trim().endsWith(version), `${program} ${args.join(' ')} says ${printed}`)
  }
}
