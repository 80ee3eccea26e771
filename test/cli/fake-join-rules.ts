// What a hub without a vault answers of join rules.

import { AdminRefusal } from '../../src/hub/service/admin-act.ts'
import type { AdminJoinedHost, AdminJoinRule } from '../../src/protocol/admin/join-rules.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import { AGENT } from './fake-agent.ts'

const joinRule: AdminJoinRule = {
  id: '1c8d3b5a7e9f0246',
  name: 'web-images',
  method: 'token',
  jwt: null,
  x5c: null,
  tpm: null,
  ssh: null,
  role: 'web',
  pattern: 'web-*.example.org',
  labels: ['env=prod'],
  state: 'open',
  hosts: 1,
  hosts_max: 40,
  silent_seconds: 172_800,
  created_at: '2026-11-21T10:00:00.000Z',
  expires_at: '2026-11-28T10:00:00.000Z',
  ended_at: null,
}
const joinedHost: AdminJoinedHost = {
  id: '7b1f0c2d4e6a8091',
  hostname: AGENT.hostname,
  joined_at: '2026-11-21T11:00:00.000Z',
  agente_id: AGENT.id,
  last_contact_at: '2026-11-21T11:59:30.000Z',
  revoked_at: null,
}
const findJoinRule = (name: string): AdminJoinRule => {
  if (name === joinRule.name || name === joinRule.id) return joinRule
  throw new AdminRefusal('join_rule_not_found', `no join rule ${name}`)
}
export const JOIN_RULE_OPERATIONS: Pick<
  AdminOperations,
  'createJoinRule' | 'listJoinRules' | 'showJoinRule' | 'listJoinedHosts' | 'endJoinRule'
> = {
  createJoinRule: async (request) => ({
    ...joinRule,
    name: request.name,
    pattern: request.pattern,
    role: request.role,
    hosts: 0,
    hosts_max: request.hosts_max,
    silent_seconds: request.silent_seconds ?? null,
    expires_at: new Date(Date.UTC(2026, 10, 21) + (request.ttl_seconds ?? 0) * 1000).toISOString(),
    token: 'svcj_plaintext',
    agent_command: 'SVC_ENROLL_TOKEN=svcj_plaintext svc-agent enroll',
  }),
  listJoinRules: async () => ({ join_rules: [joinRule], next: null }),
  showJoinRule: async ({ join_rule }) => findJoinRule(join_rule),
  listJoinedHosts: async ({ join_rule }) => ({
    hosts: findJoinRule(join_rule) && [joinedHost],
    next: null,
  }),
  endJoinRule: async ({ join_rule }) => ({
    ...findJoinRule(join_rule),
    state: 'ended',
    ended_at: '2026-11-21T12:00:00.000Z',
  }),
}
