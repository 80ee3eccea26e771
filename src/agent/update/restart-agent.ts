// The agent that runs is asked to end, so that its supervisor starts the new executable.

import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { askRunningAgent } from '../control/control-socket.ts'
import { asOwnerOf, readBounded } from './as-owner.ts'
import {
  LAST_ROUND_BYTES_MAX,
  lastRoundPath,
  parseLastRound,
  type RoundOutcome,
} from './round-outcome.ts'

/** What the running agent answers; false when no service manager would start it again. */
export const RestartReply = Type.Object({ restarting: Type.Boolean() })
export type RestartReply = Static<typeof RestartReply>

export type Restart = 'restarting' | 'not_supervised' | 'not_running' | 'failed'

const REPLY_TIMEOUT_MS = 10_000

/** The new version is installed already: whatever the agent says or does, that stays. */
export async function restartRunningAgent({
  dataDir,
  socketName,
}: {
  readonly dataDir: string
  readonly socketName: string
}): Promise<Restart> {
  try {
    const answer = await asOwnerOf(dataDir, () =>
      askRunningAgent(dataDir, socketName, 'restart', REPLY_TIMEOUT_MS),
    )
    if (answer === undefined) return 'not_running'
    if (!Check(RestartReply, answer.result)) return 'failed'
    return answer.result.restarting ? 'restarting' : 'not_supervised'
  } catch {
    // An agent that is older than this request, or a socket of another program.
    return 'failed'
  }
}

/** How the last round of that version ended, as the agent says; undefined when it says nothing of the kind. */
export async function readLastOutcome(
  { dataDir, stateDir }: { readonly dataDir: string; readonly stateDir: string },
  version: string,
): Promise<RoundOutcome | undefined> {
  const text = await asOwnerOf(dataDir, async () =>
    readBounded(lastRoundPath(stateDir), LAST_ROUND_BYTES_MAX),
  )
  const lastRound = text === undefined ? undefined : parseLastRound(text)
  return lastRound?.version === version ? lastRound.outcome : undefined
}
