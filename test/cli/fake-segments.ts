// What the fake hub has archived.

import type { AdminOperations } from '../../src/protocol/admin/operations.ts'

const SEGMENT = {
  file: '2f1f7c1e-3f0e-4bb1-b1a2-3f9a6f7f0c22-000000000001-000000065536-5f0f1f6a.svcsegment',
  first: 1,
  last: 65_536,
  first_at: '2026-01-01T00:00:00.000000Z',
  last_at: '2026-02-01T00:00:00.000000Z',
  hash_atual: '5f0f1f6a'.padEnd(64, '0'),
  bytes: 6_100_200,
  state: 'present',
  tree: ['A'.repeat(43) + '='],
}

export const SEGMENTS: Pick<AdminOperations, 'archiveEntries' | 'listSegments'> = {
  archiveEntries: async () => ({
    archived_until: SEGMENT.last,
    removed_until: SEGMENT.last,
    target: SEGMENT.last,
    done: true,
  }),
  listSegments: async () => ({ segments: [SEGMENT], removed_until: 0, next: null }),
}
