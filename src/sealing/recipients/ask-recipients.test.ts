// Whom a page seals for, as the hub names them: docs/protocol.md SEA-3, SEA-14, SEA-15.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AdminRecipient, AdminRecipients } from '../../protocol/admin/views.ts'
import { askRecipients, type AskedFor, findOthers } from './ask-recipients.ts'

function agent(hostname: string, more: Partial<AdminRecipient> = {}): AdminRecipient {
  return { id: `id-of-${hostname}`, hostname, role: 'web', recipient: 'age1pq1', ...more }
}

async function ask(asked: AskedFor, named: Partial<AdminRecipients>) {
  const requests: object[] = []
  const reply = { agentes: [], escrow: ['age1pq1escrow'], content_bytes_max: 10, ...named }
  const found = await askRecipients(async (request) => {
    requests.push(request)
    return reply
  }, asked)
  return { requests, found }
}

test('hosts and roles of something new have no escrow, and nobody is left out', async () => {
  const agentes = [agent('a', { recipient: null }), agent('b')]
  const { requests, found } = await ask({ agentes: ['a'], roles: ['web'] }, { agentes })
  assert.deepEqual(requests, [{ agentes: ['a'], roles: ['web'] }])
  assert.deepEqual(found, {
    ok: true,
    wanted: { agentes, escrow: [], content_bytes_max: 10 },
    leftOut: [],
  })
})

test('[SEA-3] a hub that adds a host or leaves one out is found out', () => {
  const agents = [agent('a'), agent('b', { role: 'db' })]
  assert.deepEqual(findOthers(agents, { agentes: ['a'], roles: [] }), {
    reason: 'unasked',
    hostname: 'b',
  })
  assert.deepEqual(findOthers(agents, { agentes: ['a', 'c'], roles: ['db'] }), {
    reason: 'missing',
    name: 'c',
  })
  assert.equal(findOthers(agents, { agentes: ['id-of-a'], roles: ['db'] }), undefined)
})

test('[SEA-14] hosts of a selector that have told no recipient wait', async () => {
  const agentes = [agent('a', { recipient: null }), agent('b')]
  const { requests, found } = await ask({ agentes: [], roles: [], where: 'env=prod' }, { agentes })
  assert.deepEqual(requests, [{ agentes: [], roles: [], where: 'env=prod' }])
  assert.deepEqual(found, {
    ok: true,
    wanted: { agentes: [agent('b')], escrow: [], content_bytes_max: 10 },
    leftOut: ['a'],
  })
})

test('[SEA-15] of a carga only hosts without it may wait, and its escrow stays', async () => {
  const agentes = [
    agent('a', { recipient: null, waits: true }),
    agent('b', { recipient: null }),
    agent('c', { waits: true }),
  ]
  const { requests, found } = await ask({ carga: 'x', agentes: [], roles: [] }, { agentes })
  assert.deepEqual(requests, [{ carga: 'x', agentes: [], roles: [] }])
  assert.ok(found.ok)
  assert.deepEqual(found.leftOut, ['a'])
  assert.deepEqual(found.wanted.agentes, [agentes[1], agentes[2]])
  assert.deepEqual(found.wanted.escrow, ['age1pq1escrow'])
})
