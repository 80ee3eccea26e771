// `npm run release`: everything that one version is handed out as, in dist/release, for x64 and arm64 whichever this machine is: the
// agent's single executable in a directory for each architecture, the Debian packages, the CLI alone as an archive; the bill of materials
// (CycloneDX), and the checksums. Signing is apart, where the key is:
//
//   minisign -S -s release.key -m linux-x64/svc-agent -t 'version:0.1.0 file:svc-agent'
//   minisign -S -s release.key -m linux-arm64/svc-agent -t 'version:0.1.0 file:svc-agent'

import { execFile } from 'node:child_process'
import { copyFile, mkdir, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { runProgram } from '../src/platform/program.ts'
import { type Architecture, ARCHITECTURES, ownArchitecture } from './build/architecture.ts'
import { type BuildSettings, parseBuildSettings } from './build/build-settings.ts'
import { pinnedNode, strippedNode } from './build/runtime.ts'
import { writeBillOfMaterials } from './release/bill-of-materials.ts'
import { writeChecksums } from './release/checksums.ts'
import { writeCliArchive } from './release/cli-archive.ts'
import { makeForeignPrograms } from './release/foreign-programs.ts'
import { makeCliPackage, makePackages, type PackagesInput } from './release/make-packages.ts'
import { ROOT } from './source-files.ts'

const run = promisify(execFile)
const DIST = join(ROOT, 'dist')
const RELEASE = join(DIST, 'release')

async function release(): Promise<void> {
  const settings = parseBuildSettings(process.env)
  const { version } = settings
  const made = { version, releasedAt: await readReleaseDate(), outputDirectory: RELEASE }
  step('programs')
  await run(process.execPath, [join(ROOT, 'tools/build.ts')], { cwd: ROOT })
  await rm(RELEASE, { recursive: true, force: true })
  for (const architecture of ARCHITECTURES) {
    const programs = await programsFor(architecture, settings)
    await releaseFor(architecture, { ...made, programs })
  }
  step(await writeBillOfMaterials(made))
  await writeChecksums(RELEASE)
  step('SHA256SUMS')
}

async function programsFor(architecture: Architecture, settings: BuildSettings): Promise<string> {
  if (architecture === ownArchitecture()) return DIST
  const directory = join(DIST, `linux-${architecture}`)
  step(`programs for ${architecture}`)
  await makeForeignPrograms(directory, { native: DIST, architecture, settings })
  return directory
}

async function releaseFor(
  architecture: Architecture,
  made: Omit<PackagesInput, 'node'>,
): Promise<void> {
  // self-update fetches it by this name, below a URL that names the directory.
  const place = join(`linux-${architecture}`, 'svc-agent')
  await mkdir(join(RELEASE, dirname(place)), { recursive: true })
  await copyFile(join(made.programs, 'svc-agent'), join(RELEASE, place))
  step(place)
  const native = { programs: DIST, node: pinnedNode() }
  const input = { ...made, architecture, native, node: strippedNode(architecture) }
  for (const path of await makePackages(input)) step(basename(path))
  step(basename(await makeCliPackage(input)))
  step(basename(await writeCliArchive(input)))
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
