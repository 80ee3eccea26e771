import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AgentId, EntryId, WebhookId } from '../../protocol/identifiers.ts'
import type { AuditEntry } from './audit-entry.ts'
import { syslogFrame } from './syslog-frame.ts'
import { messageOfEntry, testMessage } from './webhook-message.ts'

const ENDPOINT = '2b7f6a1e-9c3d-4e5f-8a6b-7c8d9e0f1a44' as WebhookId
const SOURCE = { hostname: 'hub.example.org', version: '1.2.3' }
const ENTRY: AuditEntry = {
  seq: 4711,
  id: '0b0e9c6e-59f5-4f39-9d3b-6f5a3f0f3a11' as EntryId,
  agentId: '5f0f1f6a-3f0e-4bb1-b1a2-3f9a6f7f0c22' as AgentId,
  eventType: 'entrega_falhou',
  payloadText: '{"erro":"é \u{1f600} \\n \u007f"}',
  deliveryId: null,
  requestId: null,
  timestamp: '2026-11-21T10:00:00.123000Z',
  previousHash: '0'.repeat(64),
  hash: 'a'.repeat(64),
}

function frameOf(entry: Partial<AuditEntry>, source = SOURCE): string {
  const frame = syslogFrame(messageOfEntry(ENDPOINT, { ...ENTRY, ...entry }, 'web-1'), source)
  const [length = '', ...rest] = frame.split(' ')
  assert.equal(Buffer.byteLength(rest.join(' ')), Number(length), 'octets are counted')
  return rest.join(' ')
}

describe('[WHK-23] a syslog message', () => {
  test('has the header of RFC 5424, and JSON that is ASCII throughout', () => {
    const text = frameOf({})
    const header =
      '<108>1 2026-11-21T10:00:00.123000Z hub.example.org svc-server - entrega_falhou [origin software="svc-server" swVersion="1.2.3"] '
    assert.equal(text.slice(0, header.length), header)
    const json = text.slice(header.length)
    assert.match(json, /^\{"type":"entrega_falhou","timestamp":"2026-11-21T10:00:00\.123000Z",/)
    assert.match(json, /"payload":\{"erro":"\\u00e9 \\ud83d\\ude00 \\n \\u007f"\}/)
    assert.match(text, /^[\x20-\x7e]+$/)
    const { data } = JSON.parse(json) as { data: { payload: unknown; seq: number } }
    assert.deepEqual([data.seq, data.payload], [4711, { erro: 'é \u{1f600} \n \u007f' }])
  })

  for (const [eventType, agentId, priority] of [
    ['entrega_falhou', ENTRY.agentId, 108],
    ['admin_refused', null, 108],
    ['rollout_frozen', null, 108],
    ['rollout_paused', null, 108],
    ['token_created', null, 109],
    ['agent_started', ENTRY.agentId, 110],
    // An agent may send what only the hub writes.
    ['token_created', ENTRY.agentId, 110],
  ] as const) {
    test(`[WHK-22] of ${eventType} from ${agentId === null ? 'the hub' : 'an agent'} has priority ${priority}`, () => {
      assert.match(frameOf({ eventType, agentId }), new RegExp(`^<${priority}>1 `))
    })
  }

  test('is at most 8192 bytes; a longer one leaves out its payload, and says how long that was', () => {
    const room = 8192 - frameOf({ payloadText: '{"a":""}' }).length
    // One more digit in each place of payload_bytes.
    const fits = frameOf({ payloadText: JSON.stringify({ a: 'x'.repeat(room - 3) }) })
    assert.equal(fits.length, 8192)
    assert.match(fits, /xxx"\}/)
    const long = frameOf({ payloadText: JSON.stringify({ a: 'x'.repeat(room - 2) }) })
    assert.ok(long.length < 1000)
    assert.match(long, new RegExp(`"payload":null,"payload_bytes":${room + 6}\\}`))
    // Short as UTF-8, long as ASCII.
    assert.match(
      frameOf({ payloadText: JSON.stringify({ a: 'é'.repeat(3000) }) }),
      /"payload":null/,
    )
  })

  test('has a header of its form, whatever the hub and the type are named', () => {
    const text = frameOf({ eventType: 'a'.repeat(64) }, { hostname: 'höb "x"]', version: '1"]\\' })
    assert.ok(
      text.startsWith(
        `<110>1 2026-11-21T10:00:00.123000Z h_b__x__ svc-server - ${'a'.repeat(32)} [origin software="svc-server" swVersion="1___"] {"type":"${'a'.repeat(64)}"`,
      ),
      text,
    )
    assert.match(frameOf({}, { hostname: '', version: '1' }), /Z - svc-server - /)
  })

  test('[WHK-12] of a test names its webhook', () => {
    const frame = syslogFrame(testMessage(ENDPOINT, ENTRY.timestamp), SOURCE)
    assert.match(
      frame,
      / webhook_test \[origin [^\]]+\] \{"type":"webhook_test",.*"webhook_id":"2b7f6a1e-/,
    )
  })
})
