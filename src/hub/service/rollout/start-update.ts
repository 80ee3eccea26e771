// `svc agente update`: hosts are to learn of a newer version of their agent, a wave at a time. The hub names a version and nothing else: where a
// host gets it, and by which key it has to be signed, the host knows itself. docs/protocol.md RLO-36.

import { parseReleaseVersion } from '../../../protocol/release-version.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { newRollout, type UpdateSubject } from '../../domain/rollout.ts'
import type { Store } from '../../store/store.ts'
import type { Clock } from '../../../platform/clock.ts'
import { AdminRefusal, type Course } from '../admin-act.ts'
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

export const startUpdate: Course<'startUpdate', StartContext> = {
  run: async (turn, request, { store, clock, hubs, actor }) => {
    const rules = parseRules(request)
    const { programa: version, where = null } = request
    if (parseReleaseVersion(version) === undefined) {
      throw new AdminRefusal('programa_invalid', `${version} is not a version such as 0.5.0`)
    }
    await refuseHubsWithoutRollouts(hubs)
    await turn.refuseRepetition()
    const hosts = await countHosts(store.reader, where)
    const rollout = newRollout<UpdateSubject>({
      id: newRolloutId(),
      subject: { kind: 'update', version, where },
      ...rules,
      startedBy: actor,
      createdAt: clock.now(),
    })
    return turn.commit(async (writer) => {
      await refuseSecond(writer, 'update')
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
