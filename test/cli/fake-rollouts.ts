// What a hub without a vault answers of rollouts and freezes.

import { AdminRefusal } from '../../src/hub/service/admin-act.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import type { AdminFreeze, AdminRollout } from '../../src/protocol/admin/rollouts.ts'
import type { AdminStatus } from '../../src/protocol/admin/views.ts'
import { AGENT } from './fake-agent.ts'

const ROLLOUT: AdminRollout = {
  id: '1c8d3b5a7e9f0246',
  kind: 'load',
  carga_id: '9d0f6a2b-4c1e-4f7a-8b3d-5e6f7a8b9c0d',
  nome: 'site',
  tipo: 'csr_cert',
  versao: 2,
  programa: null,
  sans: ['shop.example.org'],
  where: null,
  state: 'frozen',
  waves: ['1', '10%', '100%'],
  wave: 2,
  opened_at: '2026-11-21T10:30:00.000Z',
  wanted: 10,
  given: 10,
  soak_seconds: 600,
  late_seconds: 3600,
  max_failed: '2%',
  reason: 'of 10 hosts 1 failed, where 0 may',
  started_by: 'admin',
  changed_by: null,
  created_at: '2026-11-21T10:00:00.000Z',
  ended_at: null,
}
const ROTATION: AdminRollout = {
  ...ROLLOUT,
  id: '2d9e4c6b8f0a1357',
  kind: 'rotation',
  carga_id: null,
  nome: null,
  tipo: null,
  versao: null,
  sans: [],
}
const UPDATE: AdminRollout = {
  ...ROTATION,
  id: '3e0f5d7c9a1b2468',
  kind: 'update',
  programa: '0.5.0',
}
const FREEZE: AdminFreeze = {
  until: '2026-12-01T08:00:00.000Z',
  why: 'Black Friday',
  set_by: 'admin',
  set_at: '2026-11-21T10:00:00.000Z',
}
export const ROLLOUT_STATUS: Pick<AdminStatus, 'rollouts' | 'freeze'> = {
  rollouts: [
    {
      id: ROLLOUT.id,
      kind: ROLLOUT.kind,
      nome: ROLLOUT.nome,
      state: ROLLOUT.state,
      wave: ROLLOUT.wave,
      waves: ROLLOUT.waves.length,
      reason: ROLLOUT.reason,
    },
  ],
  freeze: { until: FREEZE.until, why: FREEZE.why },
}
const find = (name: string): AdminRollout => {
  if (name === ROLLOUT.id || name === ROLLOUT.nome) return ROLLOUT
  if (name === ROTATION.id || name === ROTATION.kind) return ROTATION
  if (name === UPDATE.id || name === UPDATE.kind) return UPDATE
  throw new AdminRefusal(
    'rollout_not_found',
    `no rollout ${name}, and no open one of a load ${name}`,
  )
}

export const ROLLOUT_OPERATIONS: Pick<
  AdminOperations,
  | 'startRollout'
  | 'startRotation'
  | 'startUpdate'
  | 'listRollouts'
  | 'showRollout'
  | 'pauseRollout'
  | 'resumeRollout'
  | 'undoRollout'
  | 'setFreeze'
  | 'showFreeze'
  | 'endFreeze'
> = {
  startRollout: async ({ waves, soak_seconds, max_failed, sans = [] }) => ({
    ...ROLLOUT,
    sans: [...sans],
    state: 'running',
    waves: [...waves],
    wave: 1,
    wanted: 0,
    given: 0,
    soak_seconds,
    max_failed,
    reason: null,
    hosts: 100,
    planned: waves.map((wave, at) => ({ wave, hosts: [1, 10, 50, 100][at] ?? 100 })),
    frozen_until: FREEZE.until,
  }),
  startRotation: async ({ where = null, waves, soak_seconds, max_failed }) => ({
    ...ROTATION,
    where,
    state: 'running',
    waves: [...waves],
    soak_seconds,
    max_failed,
    reason: null,
    hosts: 100,
    planned: waves.map((wave, at) => ({ wave, hosts: [1, 10, 100][at] ?? 100 })),
    frozen_until: null,
  }),
  startUpdate: async ({ programa, where = null, waves, soak_seconds, max_failed }) => ({
    ...UPDATE,
    programa,
    where,
    state: 'running',
    waves: [...waves],
    soak_seconds,
    max_failed,
    reason: null,
    hosts: 100,
    planned: waves.map((wave, at) => ({ wave, hosts: [1, 10, 100][at] ?? 100 })),
    frozen_until: null,
  }),
  listRollouts: async () => ({ rollouts: [ROTATION, ROLLOUT], next: null }),
  showRollout: async ({ rollout }) => ({
    ...find(rollout),
    waits_for: 'it is frozen: of 10 hosts 1 failed, where 0 may',
    hosts: { pending: 2, unprobed: 1, done: 6, failed: 1, declined: 0, failures_allowed: 0 },
    by_wave: [
      { wave: 1, pending: 0, unprobed: 0, done: 1, failed: 0, declined: 0 },
      { wave: 2, pending: 2, unprobed: 1, done: 5, failed: 1, declined: 0 },
    ],
    failures: [
      {
        hostname: AGENT.hostname,
        entrega_id: '5f0f1f6a-3f0e-4bb1-b1a2-3f9a6f7f0c22',
        status: 'falhou',
        erro: 'disk full\u001b[2J',
      },
    ],
  }),
  pauseRollout: async ({ rollout }) => ({ ...find(rollout), state: 'paused' }),
  resumeRollout: async ({ rollout }) => ({ ...find(rollout), state: 'running' }),
  undoRollout: async ({ rollout }) => ({ ...find(rollout), state: 'undoing' }),
  setFreeze: async ({ until, why }) => ({ ...FREEZE, until, why }),
  showFreeze: async () => ({ freeze: FREEZE, rollouts: 1 }),
  endFreeze: async () => FREEZE,
}
