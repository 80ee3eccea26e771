// What the hub sends to collectors, read by the published messages of OTLP.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { otlpLogs } from '../../src/hub/domain/otlp-logs.ts'
import { messageOfEntry, testMessage } from '../../src/hub/domain/webhook-message.ts'
import type { AgentId, DeliveryId, EntryId, WebhookId } from '../../src/protocol/identifiers.ts'
import { ensureOtlpProto } from '../../tools/install-otlp-proto.ts'

const ENDPOINT = '2b7f6a1e-9c3d-4e5f-8a6b-7c8d9e0f1a44' as WebhookId
const ENTRY = {
  seq: 4711,
  id: '0b0e9c6e-59f5-4f39-9d3b-6f5a3f0f3a11' as EntryId,
  agentId: '5f0f1f6a-3f0e-4bb1-b1a2-3f9a6f7f0c22' as AgentId,
  eventType: 'entrega_falhou',
  payloadText: '{"erro":"disk full","é":"\u{1f600}"}',
  deliveryId: '7d1c2b3a-0f0f-4c4c-8d8d-1a2b3c4d5e33' as DeliveryId,
  requestId: 'r-1',
  timestamp: '2026-11-21T10:00:00.123456Z',
  previousHash: '0'.repeat(64),
  hash: 'a'.repeat(64),
}
const READ = `
import json, sys
from google.protobuf import json_format
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
request = json_format.Parse(sys.stdin.read(), ExportLogsServiceRequest())
records = request.resource_logs[0].scope_logs[0].log_records
print(json.dumps([[str(r.time_unix_nano), r.severity_number, r.event_name, r.body.string_value,
  {a.key: a.value.WhichOneof('value') for a in r.attributes},
  {a.key: a.value.int_value for a in r.attributes if a.value.HasField('int_value')}] for r in records]))
`

const python = await ensureOtlpProto()
const skip = python === undefined && 'opentelemetry-proto could not be installed'

function read(request: string): unknown {
  const output = execFileSync(python ?? '', ['-c', READ], {
    input: request,
    stdio: ['pipe', 'pipe', 'pipe'],
    encoding: 'utf8',
  })
  return JSON.parse(output)
}

test('[WHK-24] a batch is an ExportLogsServiceRequest', { skip }, () => {
  const messages = [
    messageOfEntry(ENDPOINT, ENTRY, 'web-1'),
    testMessage(ENDPOINT, '2026-11-21T10:00:01.000000Z'),
  ]
  const request = otlpLogs(messages, { hostname: 'hub.example', version: '1.2.3' })
  assert.deepEqual(read(request), [
    [
      '1795255200123456000',
      13,
      'entrega_falhou',
      messages[0]?.body,
      {
        'event.name': 'string_value',
        'cartorio.message_id': 'string_value',
        'cartorio.seq': 'int_value',
        'cartorio.id': 'string_value',
        'cartorio.agente_id': 'string_value',
        'cartorio.hostname': 'string_value',
        'cartorio.entrega_id': 'string_value',
        'cartorio.hash_atual': 'string_value',
        'cartorio.payload_bytes': 'int_value',
      },
      { 'cartorio.seq': 4711, 'cartorio.payload_bytes': 32 },
    ],
    [
      '1795255201000000000',
      10,
      'webhook_test',
      messages[1]?.body,
      {
        'event.name': 'string_value',
        'cartorio.message_id': 'string_value',
        'cartorio.webhook_id': 'string_value',
      },
      {},
    ],
  ])
})

test('this reading refuses a field that OTLP does not know', { skip }, () => {
  assert.throws(
    () => read('{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"message":"x"}]}]}]}'),
    /message/,
  )
})
