import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createClientFlight } from './client-flight.ts'

/** RFC 8446 5.1: type, version, length, content. */
function record(type: number, content: Buffer): Buffer {
  const header = Buffer.from([type, 3, 3, 0, 0])
  header.writeUInt16BE(content.length, 3)
  return Buffer.concat([header, content])
}

const HANDSHAKE = 22
const ALERT = record(21, Buffer.from([1, 0]))

describe('[LIM-30] what a client says until its certificate is there', () => {
  test('goes on record by record', () => {
    const flight = createClientFlight()
    const two = Buffer.concat([ALERT, ALERT])
    const first = flight.take(two.subarray(0, 9))
    assert.deepEqual(first, { ok: true, bytes: ALERT, isOver: false })
    assert.deepEqual(flight.take(two.subarray(9)), { ok: true, bytes: ALERT, isOver: false })
  })

  for (const [what, each] of [
    ['alerts', ALERT],
    ['bytes of a message', record(HANDSHAKE, Buffer.from([1]))],
    ['nothing', record(HANDSHAKE, Buffer.alloc(0))],
  ] as const) {
    test(`has 64 records at most, of ${what} too`, () => {
      const flight = createClientFlight()
      const bytes = Buffer.concat(Array.from({ length: 65 }, () => each))
      assert.deepEqual(flight.take(bytes), { ok: false, reason: 'a handshake in crumbs' })
    })
  }

  test('is no more than 64 KiB', () => {
    const flight = createClientFlight()
    const hello = record(
      HANDSHAKE,
      Buffer.concat([Buffer.from([1, 2, 0, 0]), Buffer.alloc(16_000)]),
    )
    const taken = Array.from({ length: 5 }, () => flight.take(hello)).at(-1)
    assert.deepEqual(taken, { ok: false, reason: 'a handshake without an end' })
  })

  test('says its size before it comes', () => {
    const announced = record(HANDSHAKE, Buffer.from([11, 0, 0x80, 0]))
    assert.deepEqual(createClientFlight().take(announced), {
      ok: false,
      reason: 'a chain of more than 16384 bytes',
    })
  })

  test('is no application data, and no other message than a certificate', () => {
    const early = createClientFlight().take(record(23, Buffer.alloc(40)))
    assert.deepEqual(early, { ok: false, reason: 'application data before the handshake was done' })
    const finished = createClientFlight().take(record(HANDSHAKE, Buffer.from([20, 0, 0, 0])))
    assert.deepEqual(finished, { ok: false, reason: 'a message that is not a certificate' })
  })
})
