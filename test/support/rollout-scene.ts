// A carga on some hosts, rolled out by the parts that a hub does it with, on a store of its own and by a clock that the test moves.

import assert from 'node:assert/strict'
import { createFindBlob } from '../../src/hub/service/agent/find-blob.ts'
import { createFleetChanges } from '../../src/hub/service/cargo/fleet-changes.ts'
import { newDelivery } from '../../src/hub/service/cargo/replace-delivery.ts'
import type { Agent } from '../../src/hub/domain/agent.ts'
import type { Cargo } from '../../src/hub/domain/cargo.ts'
import type { DeliveryWithCargo } from '../../src/hub/store/store.ts'
import type { AdminRequest } from '../../src/protocol/admin/operations.ts'
import { newAgent, newCargo, NOW } from '../store/store-samples.ts'
import { keepRollouts } from './kept-rollouts.ts'
import { readActs } from './recorded-acts.ts'
import { createSettableClock } from './settable-clock.ts'
import { openTemporaryStore } from './temporary-store.ts'
import { openAdmin } from './told-admin.ts'
import { recordUnbounded } from './unbounded-events.ts'

export type RolloutScene = Awaited<ReturnType<typeof openRolloutScene>>

const LIVE = ['pendente', 'em_andamento', 'instalada', 'entregue', 'falhou'] as const
const RULES = { waves: ['1', '50%', '100%'], soak_seconds: 10, max_failed: '0' }

/** All hosts have the first version installed, and were heard of just now. */
export async function openRolloutScene(hostCount: number, changes: Partial<Cargo> = {}) {
  const store = await openTemporaryStore()
  const clock = createSettableClock(NOW)
  const fleetChanges = createFleetChanges(store)
  const cargo: Cargo = { ...newCargo('site'), sans: ['a.example'], ...changes }
  const agents = Array.from({ length: hostCount }, (_, at) => newAgent(`web-${at}`))
  await store.write(async (writer) => {
    for (const agent of agents) await writer.insertAgent(agent)
    await writer.insertCargo(cargo)
    const first = agents.map(({ id }) => ({
      ...newDelivery(cargo, id, NOW),
      status: 'instalada' as const,
    }))
    await writer.insertDeliveries(first)
    await writer.setAgentsPolled(new Map(agents.map(({ id }) => [id, NOW])))
  })
  const { admin } = openAdmin(store, { clock, changes: fleetChanges })
  const rollouts = keepRollouts({ store, changes: fleetChanges, clock })
  const recordEvent = recordUnbounded(store, clock)
  const standingOf = async (agent: Agent): Promise<DeliveryWithCargo> => {
    const filter = { agentId: agent.id, cargoId: cargo.id, statuses: LIVE }
    const found = (await store.reader.listDeliveries(filter)).filter(
      (one) => one.replacedBy === null,
    )
    const [standing] = found
    assert.ok(standing !== undefined && found.length === 1, 'a host has one standing entrega')
    return standing
  }
  const send = async (agent: Agent, tipo_evento: string, payload: object): Promise<void> => {
    const { id } = await standingOf(agent)
    const outcome = await recordEvent(agent, {
      tipo_evento,
      payload: { ...payload },
      entrega_id: id,
    })
    assert.ok(outcome.ok, tipo_evento)
  }
  const scene = {
    ...rollouts,
    store,
    clock,
    cargo,
    agents,
    admin,
    send,
    standingOf,
    findBlob: createFindBlob(store),
    acts: () => readActs(store.reader),
    start: (more: Partial<AdminRequest<'startRollout'>> = {}) =>
      admin.startRollout({ carga: cargo.id, ...RULES, ...more }),
    show: () => admin.showRollout({ rollout: cargo.id }),
    currentCargo: async () => store.reader.findCargo(cargo.id),
    /** The hosts whose standing entrega has this version. */
    hostsOf: async (version: number): Promise<Agent[]> => {
      const hosts: Agent[] = []
      for (const agent of agents) {
        if ((await standingOf(agent)).version === version) hosts.push(agent)
      }
      return hosts
    },
    /** The hosts that have yet to install what they were given. */
    pendingHosts: async (): Promise<Agent[]> => {
      const hosts: Agent[] = []
      for (const agent of agents) {
        if ((await standingOf(agent)).status === 'pendente') hosts.push(agent)
      }
      return hosts
    },
    installAll: async (payload: object = {}) => {
      for (const agent of await scene.pendingHosts()) {
        await send(agent, 'entrega_instalada', payload)
      }
    },
    [Symbol.asyncDispose]: () => store[Symbol.asyncDispose](),
  }
  return scene
}
