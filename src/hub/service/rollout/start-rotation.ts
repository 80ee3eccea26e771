// `svc agente rotate --waves`: hosts are to renew their identities, a wave at a time. Nobody is asked here: the hub opens the waves.
// docs/protocol.md RLO-24.

import { HubEventType } from '../../../protocol/words.ts'
import { newRollout } from '../../domain/rollout.ts'
import type { Store } from '../../store/store.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { Course } from '../admin-act.ts'
import { countHosts } from './count-hosts.ts'
import { toEntryPayload } from './name-rollout.ts'
import {
  answerStart,
  newRolloutId,
  parseRules,
  refuseHubsWithoutRollouts,
  refuseSecond,
  type RolloutHubs,
  toRulesPayload,
} from './rollout-rules.ts'

interface StartContext {
  readonly store: Store
  readonly clock: Clock
  readonly hubs?: RolloutHubs
}

export const startRotation: Course<'startRotation', StartContext> = {
  run: async (turn, request, { store, clock, hubs, actor }) => {
    const rules = parseRules(request)
    const { where = null } = request
    await refuseHubsWithoutRollouts(hubs)
    await turn.refuseRepetition()
    const hosts = await countHosts(store.reader, where)
    const rollout = newRollout({
      id: newRolloutId(),
      subject: { kind: 'rotation', where },
      ...rules,
      startedBy: actor,
      createdAt: clock.now(),
    })
    return turn.commit(async (writer) => {
      await refuseSecond(writer, 'rotation')
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
  },
}
