// A program as one executable file: its bundle, compiled, inside a Node of its own
// (https://nodejs.org/docs/latest-v24.x/api/single-executable-applications.html).

import { execFileSync } from 'node:child_process'
import { chmod, copyFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Architecture, ownArchitecture } from './architecture.ts'
import type { BuildSettings } from './build-settings.ts'
import { bundleProgram, type ProgramParts } from './bundle-program.ts'
import { foreignRunner } from './foreign-system.ts'
import { nodePackage, pinnedNode, strippedNode } from './runtime.ts'

export interface ExecutableProgram extends ProgramParts {
  /** Its source. */
  readonly entry: string
  /** Of its Node. */
  readonly flags: readonly string[]
}

const POSTJECT = join(dirname(fileURLToPath(import.meta.resolve('postject'))), 'cli.js')
/** An emulator takes half a minute. */
const STEP_MS_MAX = 5 * 60_000
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** Writes `outfile` whole or not at all. The same sources give the same file, but for V8's cache of compiled code. */
export async function buildExecutable(
  outfile: string,
  { entry, flags, ...parts }: ExecutableProgram,
  settings: BuildSettings,
  architecture: Architecture = ownArchitecture(),
): Promise<void> {
  const name = basename(outfile)
  const [bundle, blob] = [`${name}.cjs`, `${name}.blob`]
  const work = await mkdtemp(join(dirname(outfile), `.${name}-`))
  try {
    await bundleProgram(entry, join(work, bundle), { ...settings, ...parts })
    const node = await findNodeFor(architecture)
    const config = { ...seaConfig(bundle, blob, flags), useCodeCache: node !== undefined }
    await writeFile(join(work, 'sea.json'), JSON.stringify(config))
    // By relative names: those of the build would be kept inside.
    // With its flags: V8 takes its cache of compiled code from a Node with other flags for a stranger's.
    runQuietly(work, [
      ...(node ?? [pinnedNode()]),
      ...flags,
      '--experimental-sea-config',
      'sea.json',
    ])
    const executable = join(work, name)
    await copyFile(strippedNode(architecture), executable)
    await chmod(executable, 0o755)
    runQuietly(work, [pinnedNode(), POSTJECT, name, 'NODE_SEA_BLOB', blob, '--sentinel-fuse', FUSE])
    await rename(executable, outfile)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

/** How to start a Node for it here, which alone makes a cache of compiled code that it takes. The cache halves the time to start. */
async function findNodeFor(architecture: Architecture): Promise<readonly string[] | undefined> {
  if (architecture === process.arch) return [pinnedNode()]
  const runner = await foreignRunner(architecture)
  return runner && [...runner, join(nodePackage(architecture), 'bin/node')]
}

function seaConfig(main: string, output: string, execArgv: readonly string[]): object {
  return {
    main,
    output,
    disableExperimentalSEAWarning: true,
    useSnapshot: false,
    ...(execArgv.length > 0 && { execArgv }),
  }
}

/** What they print matters when they fail only: execFileSync puts it into its error. */
function runQuietly(directory: string, [program = '', ...args]: readonly string[]): void {
  execFileSync(program, args, {
    cwd: directory,
    stdio: 'pipe',
    timeout: STEP_MS_MAX,
    killSignal: 'SIGKILL',
  })
}
