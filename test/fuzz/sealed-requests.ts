// Requests about sealed files that no honest client sends.

import * as fc from 'fast-check'
import { hostileJson, hostileText, hostileValue } from './hostile-values.ts'
import { framed, JSON_HEADER, type MalformedRequest } from './request-bytes.ts'

const RECIPIENT = { port: 'mtls', path: '/v1/recipient' } as const

export function recipientFields({
  recipient,
}: {
  readonly recipient: string
}): fc.Arbitrary<MalformedRequest> {
  const cut = fc.nat({ max: recipient.length }).map((length) => recipient.slice(0, length))
  const value = fc.oneof(
    cut,
    hostileValue,
    hostileText.map((more) => recipient + more),
    fc.constant(recipient),
  )
  const body = fc.oneof(
    { weight: 3, arbitrary: value.map((each) => JSON.stringify({ recipient: each })) },
    { weight: 1, arbitrary: hostileJson },
  )
  return body.map((content) =>
    framed('recipient fields', RECIPIENT, 'PUT', [JSON_HEADER], Buffer.from(content)),
  )
}

/** Identifiers that are none, and conditions on a content that is there. */
export function blobPaths({
  cargoId,
}: {
  readonly cargoId: string
}): fc.Arbitrary<MalformedRequest> {
  const id = fc.oneof(
    { weight: 2, arbitrary: fc.constant(cargoId) },
    { weight: 1, arbitrary: fc.uuid() },
    {
      weight: 3,
      arbitrary: hostileText.map((text) => encodeURIComponent(Buffer.from(text).toString())),
    },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '',
        '%zz',
        '%ff',
        '%2f',
        '%00',
        `${cargoId}/`,
        `${cargoId}?a`,
        '*',
      ),
    },
  )
  const condition = fc.constantFrom('*', '"', '', ',', 'W/', '"a", W/"b"', `"${'0'.repeat(64)}"`)
  const method = fc.constantFrom('GET', 'GET', 'HEAD', 'POST', 'DELETE')
  return fc
    .tuple(id, condition, method)
    .map(([name, value, verb]) =>
      framed(
        'blob',
        { port: 'mtls', path: `/v1/blobs/${name.slice(0, 8000)}` },
        verb,
        [`If-None-Match: ${value}`, 'Range: bytes=0-1'],
        Buffer.alloc(0),
      ),
    )
}
