import { AGENT_FLAGS } from './agent-flags.ts'
import type { BuildSettings } from './build-settings.ts'
import { buildExecutable } from './single-executable.ts'

/** The agent as one executable file. */
export function buildAgentExecutable(outfile: string, settings: BuildSettings): Promise<void> {
  return buildExecutable(outfile, { entry: 'src/agent/main.ts', flags: AGENT_FLAGS }, settings)
}
