// What a hub says of itself that sees nothing.

import type { AdminExamination } from '../../src/protocol/admin/examination.ts'

export const EXAMINATION: AdminExamination = {
  version: '0.1.0',
  time: '2026-11-21T10:00:00.000Z',
  disk: null,
  ca: null,
  certificates: null,
  process: null,
  checkpoints: null,
  backups: null,
  segments: null,
  backlog: {
    webhooks: [],
    revocations: { waiting: 0, refused: 0, oldest_at: null, reason: null },
    late: [],
    last_entry_at: null,
    entries: 0,
  },
  unknown: [],
}
