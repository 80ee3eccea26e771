// The agent as one executable file: its bundle, compiled, inside a Node of its own
// (https://nodejs.org/docs/latest-v24.x/api/single-executable-applications.html).

import { execFileSync } from 'node:child_process'
import { chmod, copyFile, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { AGENT_FLAGS } from './agent-flags.ts'
import type { BuildSettings } from './build-settings.ts'
import { bundleProgram } from './bundle-program.ts'
import { pinnedNode, strippedNode } from './runtime.ts'

const BUNDLE = 'svc-agent.cjs'
const BLOB = 'svc-agent.blob'
const POSTJECT = join(dirname(fileURLToPath(import.meta.resolve('postject'))), 'cli.js')
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2'

/** Writes `outfile` whole or not at all. The same sources give the same file, but for V8's cache of compiled code. */
export async function buildAgentExecutable(
  outfile: string,
  settings: BuildSettings,
): Promise<void> {
  const work = await mkdtemp(join(dirname(outfile), `.${basename(outfile)}-`))
  try {
    await bundleProgram('src/agent/main.ts', join(work, BUNDLE), settings)
    await writeFile(join(work, 'sea.json'), JSON.stringify(seaConfig()))
    // By relative names: those of the build would be kept inside.
    // With its flags: V8 takes its cache of compiled code from a Node with other flags for a stranger's.
    runQuietly(work, [...AGENT_FLAGS, '--experimental-sea-config', 'sea.json'])
    const executable = join(work, 'svc-agent')
    await copyFile(strippedNode(), executable)
    await chmod(executable, 0o755)
    runQuietly(work, [POSTJECT, 'svc-agent', 'NODE_SEA_BLOB', BLOB, '--sentinel-fuse', FUSE])
    await rename(executable, outfile)
  } finally {
    await rm(work, { recursive: true, force: true })
  }
}

function seaConfig(): object {
  return {
    main: BUNDLE,
    output: BLOB,
    disableExperimentalSEAWarning: true,
    // Halves the time to start.
    useCodeCache: true,
    useSnapshot: false,
    execArgv: AGENT_FLAGS,
  }
}

/** What they print matters when they fail only: execFileSync puts it into its error. */
function runQuietly(directory: string, args: readonly string[]): void {
  execFileSync(pinnedNode(), args, { cwd: directory, stdio: 'pipe' })
}
