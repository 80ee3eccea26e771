import type { AdminSession } from '../../src/protocol/admin/sessions.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'

const SESSION: AdminSession = {
  id: '3e8f5d7c9a0b1246',
  name: 'on-call',
  role: 'operator',
  only: null,
  address: '192.0.2.7',
  started_at: '2026-11-21T10:00:00.000Z',
  last_used_at: '2026-11-21T10:10:00.000Z',
  idle_ends_at: '2026-11-21T10:40:00.000Z',
  ends_at: '2026-11-21T22:00:00.000Z',
}

type Sessions = 'listSessions' | 'showSession' | 'endSession' | 'createSignInLink'

export const SESSION_OPERATIONS: Pick<AdminOperations, Sessions> = {
  listSessions: async () => ({ sessions: [SESSION], next: null }),
  showSession: async () => SESSION,
  endSession: async () => SESSION,
  createSignInLink: async ({ name, role = 'viewer' }) => ({
    code: 'svcl_plaintext',
    name,
    role,
    expires_at: '2026-11-21T10:05:00.000Z',
    token_expires_at: '2026-11-21T22:00:00.000Z',
    url: 'https://hub.example.org:8445',
  }),
}
