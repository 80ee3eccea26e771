// A rollout that makes nothing for each host: a rotation and an update differ in their subject alone. Nobody is told here: the hub opens
// the waves. docs/protocol.md RLO-24, RLO-36.

import type { AdminReplies } from '../../../protocol/admin/operations.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { newRollout, type RotationSubject, type UpdateSubject } from '../../domain/rollout.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { type AdminAsker, AdminRefusal, type AdminTurn } from '../admin-act.ts'
import { countHosts } from './count-hosts.ts'
import { toEntryPayload } from './name-rollout.ts'
import {
  answerStart,
  newRolloutId,
  refuseHubsWithoutRollouts,
  type RolloutHubs,
  type RolloutRules,
  toRulesPayload,
} from './rollout-rules.ts'

export interface StartContext {
  readonly store: Store
  readonly clock: Clock
  readonly hubs?: RolloutHubs
}

type Subject = RotationSubject | UpdateSubject

export async function startOverHosts(
  turn: AdminTurn,
  { rules, subject }: { readonly rules: RolloutRules; readonly subject: Subject },
  { store, clock, hubs, actor }: StartContext & AdminAsker,
): Promise<AdminReplies['startRollout']> {
  await refuseHubsWithoutRollouts(hubs)
  await turn.refuseRepetition()
  const hosts = await countHosts(store.reader, subject.where)
  const rollout = newRollout({
    id: newRolloutId(),
    subject,
    ...rules,
    startedBy: actor,
    createdAt: clock.now(),
  })
  return turn.commit(async (writer) => {
    await refuseSecond(writer, subject.kind)
    await writer.rollouts.insert(rollout)
    const payload = {
      ...toEntryPayload(rollout, { nome: null }),
      ...toRulesPayload(rollout, hosts),
    }
    return {
      acts: [{ type: HubEventType.rolloutStarted, payload }],
      reply: await answerStart(writer, rollout, hosts),
      news: { areRolloutsChanged: true },
    }
  })
}

/** Two would bring the same hosts two things, and each would wait for what the other caused. */
async function refuseSecond(reader: StoreReader, kind: Subject['kind']): Promise<void> {
  const open = await reader.rollouts.findOpenOf(kind)
  if (open === undefined) return
  const { id: rollout, state, wave, waves } = open
  throw new AdminRefusal(
    'rollout_open',
    `${kind === 'update' ? 'an update' : 'a rotation'} in waves is under way: rollout ${rollout} is ${state} in wave ${wave + 1} of ${waves.length}`,
    { rollout },
  )
}
