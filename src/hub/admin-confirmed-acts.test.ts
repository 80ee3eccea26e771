// Which acts of a session a passkey confirms, at the admin port: docs/protocol.md PKY-2.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openConfirmingConsole, payloadsOf } from '../../test/support/confirming-console.ts'
import { assertRefusal } from '../../test/support/console-page.ts'
import { insertAgent } from '../../test/store/store-samples.ts'
import { ADMIN_OPERATION_NAMES, ADMIN_OPERATIONS } from '../protocol/admin/operations.ts'
import { passkeyIdOf } from './domain/passkey.ts'

test('[PKY-2] what nobody can take back, what hosts trust or may have, other ways in, and the log’s way out are confirmed, and nothing else', () => {
  const named = (confirm: string): string[] =>
    ADMIN_OPERATION_NAMES.filter((name) => ADMIN_OPERATIONS[name].confirm === confirm).toSorted()
  const byField = ADMIN_OPERATION_NAMES.flatMap((name) => {
    const { confirm } = ADMIN_OPERATIONS[name]
    return typeof confirm === 'object' ? [[name, confirm]] : []
  })
  assert.deepEqual(named('always'), [
    'applyFleet',
    'createAccessToken',
    'createJoinRule',
    'createSignInLink',
    'createWebhook',
    'removeAgent',
    'removePasskeys',
    'removePolicy',
    'removeSelectorPolicy',
    'revokeAccessToken',
    'revokeAgent',
    'setPolicy',
    'setSelectorPolicy',
    'signBundle',
    'updateBundle',
  ])
  assert.deepEqual(named('unless_first'), ['registerPasskey'])
  assert.deepEqual(byField, [['createToken', { ifTrue: 'reenroll' }]])
})

const OTHER_WAYS_IN = [
  ['/v1/admin/tokens', { hostname: 'web-1', role: 'web', reenroll: true }, 'token_created'],
  [
    '/v1/admin/join-rules',
    { name: 'racks', method: 'token', pattern: 'rack-*.example.org', role: 'web', hosts_max: 20 },
    'join_rule_created',
  ],
  ['/v1/admin/webhooks', { url: 'https://siem.example.org', tipos: [] }, 'webhook_created'],
] as const
for (const [path, request, tipo] of OTHER_WAYS_IN) {
  test(`[PKY-2] [PKY-9] a passkey confirms what becomes a ${tipo}`, async () => {
    await using hub = await openConfirmingConsole()
    await insertAgent(hub.store, 'web-1')
    await hub.admin.revokeAgent({ agente: 'web-1' })
    const ana = await hub.enter('ana')
    assertRefusal(await ana.ask(path, request), 403, 'confirmation_needed')
    assert.equal((await ana.ask(path, { ...request, dry_run: true })).status, 200)
    assert.deepEqual(await payloadsOf(hub.store, tipo), [])
    await ana.register()
    const done = await ana.confirmed(path, request)
    assert.equal(done.status, 200, done.text)
    const [made] = await payloadsOf(hub.store, tipo)
    assert.equal(made?.['confirmed_by'], passkeyIdOf({ credentialId: ana.authenticator.id }))
  })
}

test('[PKY-2] [PKY-4] nobody confirms a token that enrols no host again', async () => {
  await using hub = await openConfirmingConsole()
  const ana = await hub.enter('ana', 'operator')
  const token = { hostname: 'web-2', role: 'web', reenroll: false }
  assert.equal((await ana.ask('/v1/admin/tokens', token)).status, 200)
  const unclear = { hostname: 'web-3', role: 'web', reenroll: 1 }
  assertRefusal(await ana.ask('/v1/admin/tokens', unclear), 400, 'request_invalid')
})
