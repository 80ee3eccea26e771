// The agent that runs is asked to end, so that its supervisor starts the new executable.

import { constants, readSync, openSync, closeSync, fstatSync } from 'node:fs'
import { type Static, Type } from 'typebox'
import { Check } from 'typebox/value'
import { errnoCode } from '../../platform/errors.ts'
import { describeStrangers, findPathHands } from '../../platform/path-hands.ts'
import { askRunningAgent } from '../control/control-socket.ts'
import { actAs } from '../files/act-as.ts'
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
/** Never through a link, never waiting for the other end of a FIFO, never taking a terminal. */
const READ = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY

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
  const text = await asOwnerOf(dataDir, async () => readBounded(lastRoundPath(stateDir)))
  const lastRound = text === undefined ? undefined : parseLastRound(text)
  return lastRound?.version === version ? lastRound.outcome : undefined
}

/** What is below the data directory may have been planted by its owner, and is met with the owner's rights. */
async function asOwnerOf<T>(dataDir: string, work: () => Promise<T>): Promise<T | undefined> {
  const found = findPathHands(dataDir)
  // Who could put another one there would choose whose rights we take.
  if (found.end === undefined || describeStrangers(found) !== undefined) return undefined
  return actAs({ uid: found.end.uid, gid: found.end.gid }, work)
}

function readBounded(path: string): string | undefined {
  try {
    const descriptor = openSync(path, READ)
    try {
      if (!fstatSync(descriptor).isFile()) return undefined
      const bytes = Buffer.alloc(LAST_ROUND_BYTES_MAX)
      return bytes.toString('utf8', 0, readSync(descriptor, bytes))
    } finally {
      closeSync(descriptor)
    }
  } catch (error) {
    // An agent that never ran, or that we may not look at.
    if (['ENOENT', 'EACCES', 'ELOOP'].includes(errnoCode(error) ?? '')) return undefined
    throw error
  }
}
