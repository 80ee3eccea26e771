// The hubs that share the vault, for operators.

import type { AdminHubRow } from '../../protocol/admin/hubs.ts'
import type { HubRegistry } from '../store/hub-registry.ts'
import type { HubSeal } from '../store/hub-seal.ts'

export interface HubsControlOptions {
  readonly registry: Pick<HubRegistry, 'list' | 'remove'>
  readonly seal: HubSeal
  readonly hubId: string
}

export function createHubsControl({ registry, seal, hubId }: HubsControlOptions) {
  return {
    list: async (): Promise<AdminHubRow[]> => {
      const { hubs, end } = await registry.list()
      return hubs.map((hub) => {
        const described = seal.open(hub.id, hub.sealed)
        return {
          id: hub.id,
          host: described?.host ?? null,
          version: described?.version ?? null,
          tables: described?.tables ?? null,
          started_at: described?.startedAt ?? null,
          state: hub.state,
          last_beat_at: hub.lastBeatAt.toISOString(),
          silent_ms: hub.silentMs,
          behind: Math.max(0, end - hub.position),
          clock_ahead_ms: hub.clockAheadMs,
          leases: [...hub.leases],
          is_this: hub.id === hubId,
        }
      })
    },
    remove: (id: string): Promise<void> => registry.remove(id),
  }
}
