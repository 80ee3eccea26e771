// A call, or several, of each method that is about rollouts and freezes, as writer-calls.ts has the others.

import { randomUUID } from 'node:crypto'
import { newContent } from '../store/store-samples.ts'
import type { Delivery } from '../../src/hub/domain/delivery.ts'
import { newRollout } from '../../src/hub/domain/rollout.ts'
import type { RolloutWriter } from '../../src/hub/store/rollout-store.ts'
import type { DeliveryId, RolloutId } from '../../src/protocol/identifiers.ts'
import { FILLED_AT, HEAVY, ORDINARY } from './filled-tables.ts'
import type { PortCalls } from './reader-calls.ts'

const NOW = FILLED_AT

const ROLLOUT = newRollout({
  id: 'dddddddddddddddd' as RolloutId,
  subject: { kind: 'load', cargoId: ORDINARY.cargoId, version: 3, sans: [] },
  waves: [{ of: 'percent', tenths: 1000 }],
  soakMs: 0,
  lateMs: 0,
  maxFailed: { of: 'hosts', count: 0 },
  startedBy: 'admin',
  createdAt: NOW,
})

export const ROLLOUT_CALLS: PortCalls<keyof RolloutWriter> = {
  find: [(w) => w.rollouts.find(HEAVY.rolloutId)],
  findOpen: [(w) => w.rollouts.findOpen(HEAVY.cargoId)],
  findOpenOf: [(w) => w.rollouts.findOpenOf('rotation')],
  listOpen: [(w) => w.rollouts.listOpen()],
  page: [
    (w) => w.rollouts.page({ limit: 10 }),
    (w) => w.rollouts.page({ after: ORDINARY.rolloutId, limit: 10 }),
  ],
  findContent: [(w) => w.rollouts.findContent(HEAVY.rolloutId)],
  summarizeContent: [(w) => w.rollouts.summarizeContent(HEAVY.rolloutId)],
  countWaves: [
    (w) => w.rollouts.countWaves(HEAVY.rolloutId),
    (w) => w.rollouts.countWaves(HEAVY.rolloutId, NOW),
    (w) => w.rollouts.countWaves(HEAVY.rotationId, NOW),
  ],
  listFailed: [(w) => w.rollouts.listFailed(HEAVY.rolloutId, 10)],
  listReached: [(w) => w.rollouts.listReached(HEAVY.rotationId, [ORDINARY.agentId])],
  findOfferedNumber: [(w) => w.rollouts.findOfferedNumber(ORDINARY.agentId, 1)],
  findAnnounced: [(w) => w.rollouts.findAnnounced(ORDINARY.agentId)],
  listPending: [(w) => w.rollouts.listPending(HEAVY.rotationId, 10)],
  listRefusing: [(w) => w.rollouts.listRefusing(HEAVY.rotationId, 10)],
  listDeclined: [(w) => w.rollouts.listDeclined(HEAVY.updateId, 10)],
  findFreeze: [(w) => w.rollouts.findFreeze()],
  insert: [(w) => w.rollouts.insert(ROLLOUT)],
  update: [(w) => w.rollouts.update({ ...ROLLOUT, id: ORDINARY.rolloutId, endedAt: NOW })],
  setContent: [(w) => w.rollouts.setContent(ORDINARY.rolloutId, newContent(10))],
  removeContent: [(w) => w.rollouts.removeContent(ORDINARY.rolloutId)],
  give: [
    (w) => w.rollouts.give(ROLLOUT, [{ old: ORDINARY.successorId, successor: successorOf() }], NOW),
  ],
  ask: [
    (w) =>
      w.rollouts.ask({ id: HEAVY.rotationId, wave: 1 }, [{ agentId: ORDINARY.agentId, mark: 1 }]),
  ],
  withdraw: [(w) => w.rollouts.withdraw(HEAVY.rotationId, 10)],
  settleUpdate: [
    (w) =>
      w.rollouts.settleUpdate(ORDINARY.agentId, {
        version: '0.5.0',
        rollout: HEAVY.updateId,
        state: 'failed',
        error: 'why',
      }),
  ],
  awaitTargets: [(w) => w.rollouts.awaitTargets(ORDINARY.deliveryId, ['a.toml', 'b.toml'])],
  settleTarget: [
    (w) => w.rollouts.settleTarget(ORDINARY.deliveryId, 'a.toml'),
    (w) => w.rollouts.settleTarget(ORDINARY.deliveryId, undefined),
  ],
  revertTarget: [(w) => w.rollouts.revertTarget(ORDINARY.deliveryId, 'b.toml')],
  insertFreeze: [
    (w) =>
      w.rollouts.insertFreeze({
        until: NOW,
        why: 'why',
        setBy: 'admin',
        setAt: NOW,
        endedAt: null,
      }),
  ],
  endFreeze: [(w) => w.rollouts.endFreeze(1, NOW)],
}

function successorOf(): Delivery {
  return {
    id: randomUUID() as DeliveryId,
    cargoId: HEAVY.cargoId,
    agentId: ORDINARY.agentId,
    status: 'pendente',
    updatedAt: NOW,
    error: null,
    version: 3,
    sans: [],
    replacedBy: null,
  }
}
