// `npm run release`: everything that one version is handed out as, in dist/release: the agent's single executable, the
// Debian packages, the CLI alone as an archive, the bill of materials (CycloneDX), and the checksums. Signing is apart, where the key is:
//
//   minisign -S -s release.key -m svc-agent -t 'version:0.1.0 file:svc-agent'

import { execFile } from 'node:child_process'
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { promisify } from 'node:util'
import { runProgram } from '../src/platform/program.ts'
import { parseBuildSettings } from './build/build-settings.ts'
import { strippedNode } from './build/runtime.ts'
import { writeBillOfMaterials } from './release/bill-of-materials.ts'
import { writeChecksums } from './release/checksums.ts'
import { writeCliArchive } from './release/cli-archive.ts'
import { makeCliPackage, makePackages } from './release/make-packages.ts'
import { ROOT } from './source-files.ts'

const run = promisify(execFile)
const DIST = join(ROOT, 'dist')
const RELEASE = join(DIST, 'release')

async function release(): Promise<void> {
  const { version } = parseBuildSettings(process.env)
  const releasedAt = await readReleaseDate()
  step('programs')
  await run(process.execPath, [join(ROOT, 'tools/build.ts')], { cwd: ROOT })
  await rm(RELEASE, { recursive: true, force: true })
  await mkdir(RELEASE, { recursive: true })
  await copyFile(join(DIST, 'svc-agent'), join(RELEASE, 'svc-agent'))
  const made = { version, releasedAt, outputDirectory: RELEASE }
  step('packages')
  const packages = await makePackages({ ...made, programs: DIST, node: strippedNode() })
  for (const path of packages) step(basename(path))
  step(basename(await makeCliPackage({ ...made, programs: DIST })))
  step(basename(await writeCliArchive({ ...made, programs: DIST })))
  step(await writeBillOfMaterials(made))
  await writeChecksums(RELEASE)
  step('SHA256SUMS')
}

/** When this version was committed, so that the same commit makes the same files; SOURCE_DATE_EPOCH overrides it. */
async function readReleaseDate(): Promise<Date> {
  const given = process.env['SOURCE_DATE_EPOCH']
  const seconds =
    given ?? (await run('git', ['log', '-1', '--format=%ct'], { cwd: ROOT })).stdout.trim()
  return new Date(Number(seconds) * 1000)
}

function step(text: string): void {
  process.stdout.write(`release: ${text}\n`)
}

await runProgram('release', release)
