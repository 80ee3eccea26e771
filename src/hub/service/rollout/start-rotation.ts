// `svc agente rotate --waves`: hosts are to renew their identities, a wave at a time. Nobody is asked here: the hub opens the waves.
// docs/protocol.md RLO-24.

import { HubEventType } from '../../../protocol/words.ts'
import { newRollout } from '../../domain/rollout.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import type { Clock } from '../../../platform/clock.ts'
import { AdminRefusal, type Course } from '../admin-act.ts'
import { agentSlices } from '../agent-slices.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import { toEntryPayload } from './name-rollout.ts'
import {
  answerStart,
  newRolloutId,
  parseRules,
  refuseHubsWithoutRollouts,
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
      await refuseSecond(writer)
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

/** Two would ask the same hosts twice, and each would wait for what the other caused. */
async function refuseSecond(reader: StoreReader): Promise<void> {
  const open = await reader.rollouts.findOpenOf('rotation')
  if (open === undefined) return
  const { id: rollout, state, wave, waves } = open
  throw new AdminRefusal(
    'rollout_open',
    `a rotation in waves is under way: rollout ${rollout} is ${state} in wave ${wave + 1} of ${waves.length}`,
    { rollout },
  )
}

/** That are not revoked. */
async function countHosts(reader: StoreReader, where: string | null): Promise<number> {
  const selector = where === null ? undefined : parseDecidingWhere(where)
  let count = 0
  for await (const agents of agentSlices(reader, { where: selector })) {
    count += agents.filter(({ revokedAt }) => revokedAt === null).length
  }
  if (count > 0) return count
  throw new AdminRefusal(
    'rollout_empty',
    where === null ? 'there is no host' : `no host matches ${where}`,
  )
}
