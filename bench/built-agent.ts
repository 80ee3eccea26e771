// The agent as one executable, as `npm run build` makes it, for the rows that look at its memory.

import { join } from 'node:path'
import { buildAgentExecutable } from '../tools/build/agent-executable.ts'
import { parseBuildSettings } from '../tools/build/build-settings.ts'
import type { WorldOptions } from './world.ts'

/** Its path. */
export async function builtAgent({ cacheDirectory }: WorldOptions): Promise<string> {
  const path = join(cacheDirectory, 'svc-agent')
  await buildAgentExecutable(path, parseBuildSettings({}))
  return path
}
