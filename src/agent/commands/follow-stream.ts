// The stream of a running agent, wired to what the agent does at once when the hub says so there. docs/protocol.md PSH.

import type { Clock } from '../../platform/clock.ts'
import type { Logging } from '../../platform/logger.ts'
import { decodeCheckpointMessage } from '../hub/wire.ts'
import { type AgentSession, rotateAndReport } from '../identity/session.ts'
import type { RunLoop } from '../round/run-loop.ts'
import { createAskedRotation } from '../stream/asked-rotation.ts'
import { createHubFollower, type HubFollower } from '../stream/follow-hub.ts'
import { createPacedWake } from '../stream/paced-wake.ts'

interface Surroundings {
  readonly clock: Clock
  readonly random: () => number
  readonly logging: Logging
}

/** The agent does at once what the hub says there; it goes on polling besides. */
export function followStream(
  { clock, random, logging }: Surroundings,
  session: AgentSession,
  loop: RunLoop,
): HubFollower {
  const log = logging.forModule('agent.stream')
  const rotate = (): Promise<unknown> => rotateAndReport(session)
  return createHubFollower({
    clock,
    random,
    log,
    hub: session.hub,
    onManifest: createPacedWake(clock, () => loop.wake()),
    onRotate: createAskedRotation({ clock, random, log, rotate }),
    // The next round looks at it, as at one that came with an answer.
    onCheckpoint: (data) => {
      const note = decodeCheckpointMessage(data)
      if (note !== undefined) session.logWatch.noteCheckpoint(note)
    },
  })
}
