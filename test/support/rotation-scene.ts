// Hosts that are asked to renew their identities, a wave at a time, by the parts that a hub does it with, on a store of its own and by a clock
// that the test moves.

import { createFleetChanges } from '../../src/hub/service/cargo/fleet-changes.ts'
import { createReadAgentNews } from '../../src/hub/service/agent/read-agent-news.ts'
import type { Agent } from '../../src/hub/domain/agent.ts'
import type { AdminRequest } from '../../src/protocol/admin/operations.ts'
import { insertCertificate, newAgent, newCertificate, NOW } from '../store/store-samples.ts'
import { keepRollouts } from './kept-rollouts.ts'
import { readActs } from './recorded-acts.ts'
import { createSettableClock } from './settable-clock.ts'
import { openTemporaryStore } from './temporary-store.ts'
import { openAdmin } from './told-admin.ts'

const RULES = { waves: ['1', '50%', '100%'], soak_seconds: 10, max_failed: '0', late_seconds: 60 }

/** Each host uses its first identity, and was heard of just now. */
export async function openRotationScene(hostCount: number) {
  const store = await openTemporaryStore()
  const clock = createSettableClock(NOW)
  const changes = createFleetChanges(store)
  const agents = Array.from({ length: hostCount }, (_, at) => newAgent(`web-${at}`))
  await store.write(async (writer) => {
    for (const agent of agents) {
      await writer.insertAgent(agent)
      const { seq } = await writer.insertCertificate(newCertificate(agent.id))
      await writer.setActiveIdentity(agent.id, seq, NOW)
    }
    await writer.setAgentsPolled(new Map(agents.map(({ id }) => [id, NOW])))
  })
  const { admin } = openAdmin(store, { clock, changes })
  const told: string[] = []
  const notifier = { announce: (ids: Iterable<string>) => void told.push(...ids) }
  const rollouts = keepRollouts({ store, changes, clock, notifier })
  const readNews = createReadAgentNews(store, () => Promise.resolve(true))
  const scene = {
    ...rollouts,
    store,
    clock,
    agents,
    admin,
    told,
    acts: () => readActs(store.reader),
    start: (more: Partial<AdminRequest<'startRotation'>> = {}) =>
      admin.startRotation({ ...RULES, ...more }),
    show: () => admin.showRollout({ rollout: 'rotation' }),
    /** The hosts that their streams would tell to renew. */
    asked: async (): Promise<Agent[]> => {
      const found: Agent[] = []
      for (const { id } of agents) {
        const agent = await store.reader.findAgentById(id)
        if (agent !== undefined && (await readNews(agent)).rotation !== undefined) found.push(agent)
      }
      return found
    },
    renew: async ({ id }: Agent) => {
      const { seq } = await insertCertificate(store, id)
      await store.write((writer) => writer.setActiveIdentity(id, seq, clock.now()))
    },
    renewAll: async () => {
      for (const agent of await scene.asked()) await scene.renew(agent)
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
  return scene
}
