import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { Check } from 'typebox/value'
import { anyText, propertyRuns } from '../../../test/support/property.ts'
import type { DeliveryId } from '../../protocol/identifiers.ts'
import { EventRequestBody } from '../../protocol/schemas.ts'
import {
  decodeEnrollReply,
  decodeEventReply,
  decodeIssueReply,
  decodeManifestReply,
  encodeEvent,
} from './wire.ts'

const DECODERS = [decodeEnrollReply, decodeEventReply, decodeIssueReply, decodeManifestReply]
const more = fc.dictionary(anyText(8), fc.jsonValue({ maxDepth: 1 }), { maxKeys: 2 })

describe('replies', () => {
  test('any JSON is a value or none, and nothing is thrown', () => {
    const field = fc.constantFrom(
      'agent_id',
      'cert_pem',
      'ca_pem',
      'entregas',
      'evento_id',
      'hash_atual',
      'id',
    )
    const near = fc.dictionary(field, fc.oneof(anyText(), fc.uuid(), fc.jsonValue()))
    const manifest = fc.record({ entregas: fc.oneof(fc.array(near), fc.jsonValue()) })
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), near, manifest), (body) => {
        for (const decode of DECODERS) {
          const value = decode(body)
          assert.ok(value === undefined || typeof value === 'object')
        }
      }),
      propertyRuns(1000),
    )
  })

  test('[ENR-2] [ISS-2] [VER-3] what the protocol says is read as it is, whatever else is there', () => {
    fc.assert(
      fc.property(fc.uuid(), anyText(), anyText(), more, (id, cert, ca, extra) => {
        const body = { ...extra, agent_id: id, cert_pem: cert, ca_pem: ca }
        const pair = { certificatePem: cert, caPem: ca }
        assert.deepEqual(decodeEnrollReply(body), { agentId: id, ...pair })
        assert.deepEqual(decodeIssueReply(body), pair)
      }),
      propertyRuns(),
    )
  })

  test('[EVT-5] [VER-3] an event is acknowledged by a UUID and 64 hex characters, by nothing else', () => {
    const hash = fc.stringMatching(/^[0-9a-f]{64}$/)
    fc.assert(
      fc.property(
        fc.uuid(),
        hash,
        more,
        fc.constantFrom('', 'a', 'G', '\n'),
        (id, digest, extra, tail) => {
          const body = { ...extra, evento_id: id, hash_atual: digest + tail }
          const expected = tail === '' ? { entryId: id, hash: digest } : undefined
          assert.deepEqual(decodeEventReply(body), expected)
        },
      ),
      propertyRuns(),
    )
  })

  test('[MAN-3] [LIM-15] good entries of a manifest are read in their order, the others counted', () => {
    const good = fc.record({
      id: fc.uuid(),
      carga_id: fc.uuid(),
      tipo: anyText(8),
      nome: anyText(8),
      versao: fc.integer(),
      status: anyText(8),
    })
    const bad = fc.tuple(
      good,
      fc.constantFrom('id', 'nome', 'versao'),
      fc.constantFrom(null, 1.5, []),
    )
    const entry = fc.oneof(
      good.map((body) => ({ body, isGood: true })),
      bad.map(([body, name, value]) => ({ body: { ...body, [name]: value }, isGood: false })),
    )
    fc.assert(
      fc.property(fc.array(entry), (entries) => {
        const manifest = decodeManifestReply({ entregas: entries.map(({ body }) => body) })
        const expected = entries.filter(({ isGood }) => isGood)
        assert.deepEqual(
          manifest?.entries.map((read) => [read.deliveryId, read.name, read.version]),
          expected.map(({ body }) => [body.id, body.nome, body.versao]),
        )
        assert.equal(manifest.ignoredCount, entries.length - expected.length)
      }),
      propertyRuns(),
    )
  })
})

test('[EVT-1] [EVT-4] an event is, once it was JSON, what it was, and the hub takes its shape', () => {
  const type = fc.stringMatching(/^[a-z][a-z0-9_]{0,20}$/)
  const payload = fc.dictionary(anyText(8), fc.jsonValue({ maxDepth: 2 }))
  const delivery = fc.option(fc.uuid(), { nil: undefined })
  fc.assert(
    fc.property(type, payload, delivery, fc.uuid(), (name, content, id, requestId) => {
      const event = {
        type: name,
        payload: content,
        ...(id === undefined ? {} : { deliveryId: id as DeliveryId }),
      }
      const read: unknown = JSON.parse(JSON.stringify(encodeEvent(event, requestId)))
      assert.ok(Check(EventRequestBody, read))
      assert.deepEqual(read, {
        tipo_evento: name,
        payload: JSON.parse(JSON.stringify(content)),
        ...(id === undefined ? {} : { entrega_id: id }),
        request_id: requestId,
      })
    }),
    propertyRuns(),
  )
})
