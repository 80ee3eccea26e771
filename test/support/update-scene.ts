// Hosts that are told of a newer version of their agent, a wave at a time, by the parts that a hub does it with, on a store of its own and by a
// clock that the test moves.

import assert from 'node:assert/strict'
import { createListManifest } from '../../src/hub/service/agent/list-manifest.ts'
import { createFleetChanges } from '../../src/hub/service/cargo/fleet-changes.ts'
import type { Agent } from '../../src/hub/domain/agent.ts'
import type { AdminRequest } from '../../src/protocol/admin/operations.ts'
import { NO_POLLS } from '../fakes/no-polls.ts'
import { newAgent, NOW } from '../store/store-samples.ts'
import { keepRollouts } from './kept-rollouts.ts'
import { readActs } from './recorded-acts.ts'
import { createSettableClock } from './settable-clock.ts'
import { openTemporaryStore } from './temporary-store.ts'
import { openAdmin } from './told-admin.ts'
import { recordUnbounded } from './unbounded-events.ts'

const RULES = { waves: ['1', '50%', '100%'], soak_seconds: 10, max_failed: '0', late_seconds: 60 }
export const NEXT = '0.5.0'

/** Each host was heard of just now. */
export async function openUpdateScene(hostCount: number) {
  const store = await openTemporaryStore()
  const clock = createSettableClock(NOW)
  const changes = createFleetChanges(store)
  const agents = Array.from({ length: hostCount }, (_, at) => newAgent(`web-${at}`))
  await store.write(async (writer) => {
    for (const agent of agents) await writer.insertAgent(agent)
    await writer.setAgentsPolled(new Map(agents.map(({ id }) => [id, NOW])))
  })
  const { admin } = openAdmin(store, { clock, changes })
  const told: string[] = []
  const notifier = { announce: (ids: Iterable<string>) => void told.push(...ids) }
  const rollouts = keepRollouts({ store, changes, clock, notifier })
  const listManifest = createListManifest(store, NO_POLLS, async () => true)
  const recordEvent = recordUnbounded(store, clock)
  const send = async (agent: Agent, tipo_evento: string, payload: object): Promise<void> => {
    const outcome = await recordEvent(agent, { tipo_evento, payload: { ...payload } })
    assert.ok(outcome.ok, tipo_evento)
  }
  const scene = {
    ...rollouts,
    store,
    clock,
    agents,
    admin,
    told,
    listManifest,
    acts: () => readActs(store.reader),
    start: (more: Partial<AdminRequest<'startUpdate'>> = {}) =>
      admin.startUpdate({ programa: NEXT, ...RULES, ...more }),
    show: () => admin.showRollout({ rollout: 'update' }),
    /** The hosts whose manifests name a version. */
    announcedTo: async (): Promise<Agent[]> => {
      const found: Agent[] = []
      for (const agent of agents) {
        if ((await listManifest(agent)).atualizacao !== undefined) found.push(agent)
      }
      return found
    },
    update: (agent: Agent, versao: string = NEXT) => send(agent, 'agent_updated', { versao }),
    fail: (agent: Agent, erro: string, more: { readonly rollout?: string } = {}) =>
      send(agent, 'agent_update_failed', { versao: NEXT, erro, ...more }),
    decline: (agent: Agent, erro: string) =>
      send(agent, 'agent_update_declined', { versao: NEXT, erro }),
    updateAll: async () => {
      for (const agent of await scene.announcedTo()) await scene.update(agent)
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
  return scene
}
