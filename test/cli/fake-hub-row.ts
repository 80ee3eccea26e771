import type { AdminHubRow } from '../../src/protocol/admin/hubs.ts'

/** The one hub that shares the vault. */
export const HUB: AdminHubRow = {
  id: '6a0c2f7e-8f3b-4d0e-9d9f-2f6f6c1c7a10',
  host: 'hub-1.example.org',
  version: '0.5.0',
  tables: 37,
  started_at: '2026-11-21T10:00:00.000Z',
  state: 'running',
  last_beat_at: '2026-11-21T10:30:00.000Z',
  silent_ms: 300,
  behind: 0,
  clock_ahead_ms: -200,
  leases: ['jobs'],
  is_this: true,
}
