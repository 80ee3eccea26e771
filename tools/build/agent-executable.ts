import type { Architecture } from './architecture.ts'
import { AGENT_FLAGS } from './agent-flags.ts'
import type { BuildSettings } from './build-settings.ts'
import { buildExecutable } from './single-executable.ts'

/** The agent as one executable file. */
export function buildAgentExecutable(
  outfile: string,
  settings: BuildSettings,
  architecture?: Architecture,
): Promise<void> {
  const program = { entry: 'src/agent/main.ts', flags: AGENT_FLAGS }
  return buildExecutable(outfile, program, settings, architecture)
}
