import assert from 'node:assert/strict'
import { test } from 'node:test'
import { bodyRoomOf, LEAST_BODY_ROOM } from './body-room.ts'
import { ADMIN_OPERATION_NAMES, ADMIN_OPERATIONS } from './operations.ts'
import { Type } from './plain-type.ts'

const MIB = 1024 * 1024

test('[LIM-22] [LIM-35] a body holds 1 MiB and 4,096 strings, and more where the request has room for more', () => {
  const larger = ADMIN_OPERATION_NAMES.toSorted()
    .map((name) => [name, bodyRoomOf(ADMIN_OPERATIONS[name])] as const)
    .filter(([, { bytesMax, stringsMax }]) => bytesMax !== MIB || stringsMax !== 4096)
  assert.deepEqual(
    larger.map(([name, { bytesMax, stringsMax }]) => [name, bytesMax / MIB, stringsMax]),
    [
      ['applyFleet', 16, 65_536],
      ['createCargo', 16, 65_536],
      ['createJoinRule', 4, 8192],
      ['listRecipients', 16, 16_384],
      ['planFleet', 16, 65_536],
      ['startRollout', 16, 65_536],
      ['updateCargo', 16, 65_536],
    ],
  )
})

test('[LIM-35] outside of strings there is room for sixteen characters for each of them', () => {
  assert.deepEqual(LEAST_BODY_ROOM, { bytesMax: MIB, stringsMax: 4096, outsideMax: 65_536 })
  assert.equal(bodyRoomOf(ADMIN_OPERATIONS.createCargo).outsideMax, MIB)
})

test('[LIM-35] a list without a bound has the most room, and labels are as many as a host may have', () => {
  const roomOf = (field: ReturnType<typeof Type.Array | typeof Type.Record>) =>
    bodyRoomOf({ request: Type.Object({ field }) }).stringsMax
  assert.equal(roomOf(Type.Array(Type.String())), 65_536)
  assert.equal(roomOf(Type.Array(Type.String(), { maxItems: 4095 })), 4096)
  assert.equal(roomOf(Type.Array(Type.String(), { maxItems: 4096 })), 8192)
  const labels = Type.Record(Type.String(), Type.String())
  assert.equal(roomOf(Type.Array(labels, { maxItems: 63 })), 4096)
  assert.equal(roomOf(Type.Array(labels, { maxItems: 64 })), 8192)
})
