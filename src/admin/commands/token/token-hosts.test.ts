import assert from 'node:assert/strict'
import { test } from 'node:test'
import { AGENT } from '../../../../test/cli/fake-agent.ts'
import type { Clock } from '../../../platform/clock.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import { findEnrolledHosts } from './token-hosts.ts'

const progress = { show: () => undefined, clear: () => undefined }
const clock: Clock = {
  now: () => new Date('2026-11-21T12:00:00Z'),
  sleep: () => Promise.reject(new Error('nobody waits')),
}
const ENDED = '2026-11-21T12:00:00.000Z'
const AGENTS = [
  { ...AGENT, hostname: 'db-1', role: 'db', cert_not_after: ENDED },
  { ...AGENT, hostname: 'web-1', role: 'web', cert_not_after: '2026-11-21T12:00:01.000Z' },
  { ...AGENT, hostname: 'web-2', role: 'web', cert_not_after: ENDED },
  { ...AGENT, hostname: 'web-3', role: 'web', cert_not_after: ENDED, revoked_at: ENDED },
]

const operations = {
  listAgents: async () => ({ agentes: AGENTS, next: null }),
  showAgent: async ({ agente }: { agente: string }) =>
    AGENTS.find(({ hostname }) => hostname === agente),
} as unknown as AdminOperations

const ALL = { roles: [], where: undefined, expired: false }
const WEB = { roles: ['web'], where: undefined, expired: false }

for (const [selection, expected] of [
  [ALL, 'db-1 db, web-1 web, web-2 web'],
  [WEB, 'web-1 web, web-2 web'],
  [{ ...ALL, expired: true }, 'db-1 db, web-2 web'],
  [{ ...WEB, expired: true }, 'web-2 web'],
] as const) {
  test(`[CLI-87] ${JSON.stringify(selection)} leaves revoked agents out, and each has its role`, async () => {
    const hosts = await findEnrolledHosts({ progress, clock }, selection).find(operations)
    assert.equal(hosts.map(({ name, role }) => `${name} ${role}`).join(', '), expected)
  })
}

test('[CLI-87] says so when there is none', async () => {
  const { find } = findEnrolledHosts({ progress, clock }, { ...WEB, roles: ['x'], expired: true })
  await assert.rejects(find(operations), {
    code: 'no_recipient',
    message: 'no agent of role x whose identity has expired is there',
  })
})

test('[CLI-87] refuses a host that is revoked by now', async () => {
  const { refuse } = findEnrolledHosts({ progress, clock }, ALL)
  await refuse?.(operations, { name: 'web-2', role: 'web' })
  await assert.rejects(async () => refuse?.(operations, { name: 'web-3', role: 'web' }), {
    code: 'agent_revoked',
  })
})
