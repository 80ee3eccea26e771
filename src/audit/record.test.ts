import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../test/support/property.ts'
import { formatRecord, hashRecord, parseRecord, type RecordedEntry } from './record.ts'

const ENTRY: RecordedEntry = {
  seq: 7,
  id: '0192f0c1-0000-7000-8000-000000000007',
  agentId: null,
  eventType: 'token_created',
  deliveryId: null,
  requestId: null,
  payloadText: '{"nome":"ç"}',
  timestamp: '2026-11-23T09:00:00.000000Z',
  previousHash: 'a'.repeat(64),
  hash: 'b'.repeat(64),
}

describe('[CHN-12] the record of an entry', () => {
  test('has each column as a netstring, with the length in bytes', () => {
    assert.equal(
      formatRecord(ENTRY),
      `13:svc-evento-v1,1:7,36:0192f0c1-0000-7000-8000-000000000007,-,13:token_created,-,-,13:{"nome":"ç"},27:2026-11-23T09:00:00.000000Z,64:${'a'.repeat(64)},64:${'b'.repeat(64)},`,
    )
    // printf '\0%s' "$record" | sha256sum
    assert.equal(
      hashRecord(formatRecord(ENTRY)).toString('hex'),
      '8e1576b1a727fcac1fa43c18f095e3e61520eb5bd7ccc1f4f21d42ff28e79cfb',
    )
  })

  test('is another one when any column is another one', () => {
    const text = anyText(8).map((any) => Buffer.from(any).toString())
    const entries = fc.record({
      seq: fc.nat(),
      id: text,
      agentId: fc.option(text),
      eventType: text,
      deliveryId: fc.option(text),
      requestId: fc.option(text),
      payloadText: text,
      timestamp: text,
      previousHash: text,
      hash: text,
    })
    fc.assert(
      fc.property(entries, entries, (one, other) => {
        const isSame = JSON.stringify(Object.values(one)) === JSON.stringify(Object.values(other))
        assert.equal(formatRecord(one) === formatRecord(other), isSame)
        assert.deepEqual(parseRecord(formatRecord(one)), { ...one })
        for (const column of Object.keys(one) as (keyof RecordedEntry)[]) {
          const changed = {
            ...one,
            [column]: column === 'seq' ? one.seq + 1 : `${one[column] ?? ''}x`,
          }
          assert.notEqual(formatRecord(changed), formatRecord(one))
          if (one[column] === null)
            assert.notEqual(formatRecord({ ...one, [column]: '' }), formatRecord(one))
        }
      }),
      propertyRuns(),
    )
  })

  test('is read back as the entry, and any other text is not', () => {
    const record = formatRecord(ENTRY)
    assert.deepEqual(parseRecord(record), ENTRY)
    for (const other of [
      '',
      '-,',
      record.slice(0, -1),
      `${record}-,`,
      `${record}1:x,`,
      record.replace('svc-evento-v1', 'svc-evento-v2'),
      record.replace(',1:7,', ',2:07,'),
      record.replace(',1:7,', ',-,'),
      record.replace('13:token', '12:token'),
      record.replace('13:token', '013:token'),
      record.replace('13:token', '999999999:token'),
    ]) {
      assert.equal(parseRecord(other), undefined, other)
    }
  })
})
