import type { Architecture } from './architecture.ts'
import type { BuildSettings } from './build-settings.ts'
import { packConsole } from './console-bundle.ts'
import { buildExecutable } from './single-executable.ts'

/** `svc` as one executable file for machines without a hub: it has no store of its own, and works through `--hub`. */
export async function buildCliExecutable(
  outfile: string,
  settings: BuildSettings,
  architecture?: Architecture,
): Promise<void> {
  const program = {
    entry: 'src/admin/main.ts',
    flags: [],
    isAlone: true,
    console: await packConsole(),
  }
  return buildExecutable(outfile, program, settings, architecture)
}
