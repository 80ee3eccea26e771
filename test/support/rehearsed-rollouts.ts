// Rollouts and a freeze that are there when acts are rehearsed, and requests for each such act.

import { NOW } from '../store/store-samples.ts'
import type { AdminOperations, AdminRequest } from '../../src/protocol/admin/operations.ts'

const RULES = { waves: ['1', '100%'], soak_seconds: 0, max_failed: '0' }
const SOON = new Date(NOW.getTime() + 86_400_000).toISOString()

/** One that runs, of carga `rolled`, one that is paused, of `held`, and a freeze. */
export async function startRollouts(
  admin: AdminOperations,
  cargo: AdminRequest<'createCargo'>,
): Promise<void> {
  for (const nome of ['rolled', 'held']) {
    await admin.createCargo({ ...cargo, nome })
    await admin.startRollout({ carga: nome, ...RULES })
  }
  await admin.pauseRollout({ rollout: 'held' })
  await admin.setFreeze({ until: SOON, why: 'a holiday' })
}

interface Made {
  readonly made: { readonly carga: string }
}

export const ROLLOUT_REQUESTS = {
  startRollout: ({ made: { carga } }: Made) => [{ carga, sans: ['a.example'], ...RULES }],
  startRotation: () => [{ where: 'role=web', ...RULES }],
  startUpdate: () => [{ programa: '0.5.0', where: 'role=web', ...RULES }],
  pauseRollout: () => [{ rollout: 'rolled' }],
  resumeRollout: () => [{ rollout: 'held' }],
  undoRollout: () => [{ rollout: 'rolled' }],
  setFreeze: () => [{ until: SOON, why: 'another' }],
  endFreeze: () => [{}],
}

export const REFUSED_ROLLOUTS = {
  startRollout: { carga: 'rolled', ...RULES },
  startRotation: { where: 'env=nowhere', ...RULES },
  startUpdate: { programa: '../0.5.0', ...RULES },
  pauseRollout: { rollout: 'nothing' },
  resumeRollout: { rollout: 'nothing' },
  undoRollout: { rollout: 'nothing' },
  setFreeze: { until: NOW.toISOString(), why: 'over' },
  endFreeze: {},
}
