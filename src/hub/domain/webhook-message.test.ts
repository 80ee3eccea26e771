import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import { Webhook } from 'standardwebhooks'
import type { AgentId, DeliveryId, EntryId, WebhookId } from '../../protocol/identifiers.ts'
import type { AuditEntry } from './audit-entry.ts'
import {
  isSent,
  messageId,
  messageOfEntry,
  renderBody,
  secretFrom,
  signMessage,
} from './webhook-message.ts'

const ENDPOINT = '2b7f6a1e-9c3d-4e5f-8a6b-7c8d9e0f1a44' as WebhookId
const ENTRY: AuditEntry = {
  seq: 4711,
  id: '0b0e9c6e-59f5-4f39-9d3b-6f5a3f0f3a11' as EntryId,
  agentId: '5f0f1f6a-3f0e-4bb1-b1a2-3f9a6f7f0c22' as AgentId,
  eventType: 'entrega_falhou',
  payloadText: '{"erro":"disk full","é":"\u{1f600}"}',
  deliveryId: '7d1c2b3a-0f0f-4c4c-8d8d-1a2b3c4d5e33' as DeliveryId,
  requestId: 'r-1',
  timestamp: '2026-11-21T10:00:00.123000Z',
  previousHash: '0'.repeat(64),
  hash: 'a'.repeat(64),
}

describe('the message of an entry', () => {
  test('[WHK-2] holds what the entry holds', () => {
    assert.deepEqual(JSON.parse(messageOfEntry(ENDPOINT, ENTRY, 'web-1').body), {
      type: 'entrega_falhou',
      timestamp: '2026-11-21T10:00:00.123000Z',
      data: {
        seq: 4711,
        id: ENTRY.id,
        agente_id: ENTRY.agentId,
        hostname: 'web-1',
        entrega_id: ENTRY.deliveryId,
        hash_atual: 'a'.repeat(64),
        payload: { erro: 'disk full', é: '\u{1f600}' },
        payload_bytes: 32,
      },
    })
  })

  test('[WHK-2] leaves out a payload that is too long or no JSON any more', () => {
    for (const [payloadText, payload] of [
      [JSON.stringify({ a: 'x'.repeat(16 * 1024 - 8) }), { a: 'x'.repeat(16 * 1024 - 8) }],
      [JSON.stringify({ a: 'x'.repeat(16 * 1024 - 7) }), null],
      ['{"half":', null],
    ] as const) {
      const { body } = messageOfEntry(ENDPOINT, { ...ENTRY, payloadText }, null)
      const { data } = JSON.parse(body) as { data: { payload: unknown; payload_bytes: number } }
      assert.deepEqual(data.payload, payload)
      assert.equal(data.payload_bytes, payloadText.length)
      assert.ok(Buffer.byteLength(body) < 18 * 1024)
    }
  })

  test('[WHK-3] has an id that endpoint and entry alone decide, and no dot in it', () => {
    const { id } = messageOfEntry(ENDPOINT, ENTRY, 'web-1')
    assert.match(id, /^msg_[0-9a-f]{32}$/)
    assert.equal(messageOfEntry(ENDPOINT, { ...ENTRY }, null).id, id)
    const another = '3b7f6a1e-9c3d-4e5f-8a6b-7c8d9e0f1a44' as WebhookId
    assert.notEqual(messageOfEntry(another, ENTRY, 'web-1').id, id)
    const sameNumber = { ...ENTRY, id: '1b0e9c6e-59f5-4f39-9d3b-6f5a3f0f3a11' as EntryId }
    assert.notEqual(messageOfEntry(ENDPOINT, sameNumber, 'web-1').id, id)
  })

  test('[WHK-1] is sent unless it says that another died', () => {
    assert.equal(isSent({ eventType: 'webhook_dead' }), false)
    for (const eventType of ['webhook_disabled', 'webhook_created', 'certificate_late', 'x']) {
      assert.equal(isSent({ eventType }), true)
    }
  })
})

describe('[WHK-4] a signature', () => {
  test('is that of the published example', () => {
    // From the tests of the published libraries.
    const signature = signMessage(
      'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
      { id: 'msg_p5jXN8AQM9LWM0D4loKWxJek', body: '{"test": 2432232314}' },
      1_614_265_330,
    )
    assert.equal(signature, 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
  })

  test('is verified by the published library, for any body', () => {
    for (let round = 0; round < 100; round += 1) {
      const secret = secretFrom(randomBytes(32))
      const text = randomBytes(round).toString('base64')
      const message = {
        id: messageId(ENDPOINT, text),
        body: renderBody('x', ENTRY.timestamp, { text, é: '\u{1f600}' }),
      }
      const seconds = Math.floor(Date.now() / 1000)
      const headers = {
        'webhook-id': message.id,
        'webhook-timestamp': String(seconds),
        'webhook-signature': signMessage(secret, message, seconds),
      }
      assert.deepEqual(new Webhook(secret).verify(message.body, headers), JSON.parse(message.body))
      assert.throws(() => new Webhook(secret).verify(`${message.body} `, headers))
      assert.throws(() => new Webhook(secretFrom(randomBytes(32))).verify(message.body, headers))
    }
  })

  test('is made with a secret of the right form', () => {
    const secret = secretFrom(randomBytes(32))
    assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
  })
})
