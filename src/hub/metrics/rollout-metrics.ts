// docs/protocol.md MET-34.

import type { MetricTable } from '../../platform/metric-set.ts'
import { OPEN_ROLLOUT_STATES } from '../domain/rollout.ts'

export const ROLLOUT_METRICS = {
  svc_rollouts: {
    type: 'gauge',
    unit: 'rollouts',
    labels: { state: OPEN_ROLLOUT_STATES },
    meaning: 'Rollouts that are neither done nor undone.',
  },
  svc_rollout_frozen: {
    type: 'gauge',
    unit: '1',
    labels: { nome: 'of cargas, rotation, roots or update' },
    meaning:
      '1 for each carga whose rollout is frozen, and for a rotation, a set of roots or an update whose is; at most 100.',
  },
  svc_freeze_until_timestamp_seconds: {
    type: 'gauge',
    unit: 'seconds since 1970',
    labels: {},
    meaning: 'Until when a freeze holds rollouts back; absent while none does.',
  },
} as const satisfies MetricTable
