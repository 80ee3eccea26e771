import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { EntryId, WebhookId } from '../../protocol/identifiers.ts'
import { findRejection, otlpLogs } from './otlp-logs.ts'
import { messageOfEntry } from './webhook-message.ts'

const ENDPOINT = '2b7f6a1e-9c3d-4e5f-8a6b-7c8d9e0f1a44' as WebhookId
const SOURCE = { hostname: 'hub.example.org', version: '1.2.3' }

test('[WHK-24] log records have what the entries have, times in nanoseconds, and no field that is null', () => {
  const entry = {
    seq: 4711,
    id: '0b0e9c6e-59f5-4f39-9d3b-6f5a3f0f3a11' as EntryId,
    agentId: null,
    eventType: 'token_created',
    payloadText: '{"a":"é"}',
    deliveryId: null,
    requestId: null,
    timestamp: '2026-11-21T10:00:00.123456Z',
    previousHash: '0'.repeat(64),
    hash: 'a'.repeat(64),
  }
  const message = messageOfEntry(ENDPOINT, entry, null)
  assert.deepEqual(JSON.parse(otlpLogs([message, message], SOURCE)), {
    resourceLogs: [
      {
        resource: {
          attributes: [
            { key: 'service.name', value: { stringValue: 'cartorio' } },
            { key: 'service.version', value: { stringValue: '1.2.3' } },
            { key: 'host.name', value: { stringValue: 'hub.example.org' } },
          ],
        },
        scopeLogs: [
          {
            scope: { name: 'cartorio.audit', version: '1.2.3' },
            logRecords: Array.from({ length: 2 }, () => ({
              timeUnixNano: '1795255200123456000',
              observedTimeUnixNano: '1795255200123456000',
              severityNumber: 10,
              severityText: 'notice',
              eventName: 'token_created',
              body: { stringValue: message.body },
              attributes: [
                { key: 'event.name', value: { stringValue: 'token_created' } },
                { key: 'cartorio.message_id', value: { stringValue: message.id } },
                { key: 'cartorio.seq', value: { intValue: '4711' } },
                { key: 'cartorio.id', value: { stringValue: entry.id } },
                { key: 'cartorio.hash_atual', value: { stringValue: 'a'.repeat(64) } },
                { key: 'cartorio.payload_bytes', value: { intValue: '10' } },
              ],
            })),
          },
        ],
      },
    ],
  })
})

describe('[WHK-24] an answer of 200', () => {
  for (const [body, kind, error] of [
    ['', undefined, undefined],
    ['{}', undefined, undefined],
    ['{"partialSuccess":{}}', undefined, undefined],
    ['{"partialSuccess":null}', undefined, undefined],
    [
      '{"partialSuccess":{"rejectedLogRecords":"0","errorMessage":"soon full"}}',
      undefined,
      undefined,
    ],
    [
      '{"partialSuccess":{"rejectedLogRecords":"3","errorMessage":"no"}}',
      'rejected',
      'answered that it rejected 3',
    ],
    ['{"partialSuccess":{"rejectedLogRecords":3}}', 'rejected', 'answered that it rejected 3'],
    [
      '{"partialSuccess":{"rejectedLogRecords":"many"}}',
      'rejected',
      'answered that it rejected some',
    ],
    ['<html>sign in</html>', 'strange', 'answered with something else than OTLP'],
    ['[]', 'strange', 'answered with something else than OTLP'],
    ['"ok"', 'strange', 'answered with something else than OTLP'],
    [undefined, 'strange', 'answered with more than OTLP says'],
  ] as const) {
    test(`${body ?? 'without end'} is ${kind ?? 'taken'}`, () => {
      assert.deepEqual(findRejection(body), kind === undefined ? undefined : { kind, error })
    })
  }
})
