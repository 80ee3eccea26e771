// Freezes: a time in which no rollout goes on. docs/protocol.md RLO-20 to RLO-22.

import type { Clock } from '../../../platform/clock.ts'
import { FREEZE_MAX_SECONDS } from '../../../protocol/admin/rollouts.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { AdminRefusal, type Read, type Write } from '../admin-act.ts'
import { parseTime } from '../read-page.ts'
import { findFreezeInForce } from './find-rollout.ts'
import { toAdminFreeze } from './rollout-views.ts'

interface Clocked {
  readonly clock: Clock
}

/** In the place of the one that holds. */
export const setFreeze: Write<'setFreeze', Clocked> = async (writer, request, { clock, actor }) => {
  const now = clock.now()
  const until = parseTime(request.until)
  const seconds = (until.getTime() - now.getTime()) / 1000
  if (seconds <= 0) throw new AdminRefusal('freeze_invalid', `${request.until} is over`)
  if (seconds > FREEZE_MAX_SECONDS) {
    throw new AdminRefusal('freeze_invalid', `${request.until} is more than a year away`)
  }
  const freeze = { until, why: request.why, setBy: actor, setAt: now, endedAt: null }
  await writer.rollouts.insertFreeze(freeze)
  const reply = toAdminFreeze(freeze)
  return {
    acts: [{ type: HubEventType.freezeSet, payload: { until: reply.until, why: reply.why } }],
    reply,
    news: { areRolloutsChanged: true },
  }
}

export const showFreeze: Read<'showFreeze', Clocked> = async (reader, _request, { clock }) => {
  const freeze = await findFreezeInForce(reader, clock.now())
  const running = (await reader.rollouts.listOpen()).filter(({ state }) => state === 'running')
  return {
    freeze: freeze === undefined ? null : toAdminFreeze(freeze),
    rollouts: freeze === undefined ? 0 : running.length,
  }
}

export const endFreeze: Write<'endFreeze', Clocked> = async (writer, _request, { clock }) => {
  const now = clock.now()
  const freeze = await findFreezeInForce(writer, now)
  if (freeze === undefined) throw new AdminRefusal('freeze_not_found', 'no freeze holds')
  await writer.rollouts.endFreeze(freeze.id, now)
  const { until, why } = toAdminFreeze(freeze)
  return {
    acts: [{ type: HubEventType.freezeEnded, payload: { until, why } }],
    reply: toAdminFreeze(freeze),
    news: { areRolloutsChanged: true },
  }
}
