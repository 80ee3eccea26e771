import assert from 'node:assert/strict'
import { test } from 'node:test'
import { PUSH_BYTES_MAX as HUB_BYTES_MAX } from '../../../protocol/admin/bounds.ts'
import { PUSH_BYTES_MAX, readPush } from './read-push.ts'

test('the limit is the hub’s', () => assert.equal(PUSH_BYTES_MAX, HUB_BYTES_MAX))

test('a text of exactly the limit is read, one byte more is not', async () => {
  const most = 'é'.repeat(PUSH_BYTES_MAX / 2)
  assert.deepEqual(await readPush(new Blob([most])), {
    ok: true,
    text: most,
    bytes: PUSH_BYTES_MAX,
  })
  assert.deepEqual(await readPush(new Blob([`${most}x`])), {
    ok: false,
    why: 'large',
    bytes: PUSH_BYTES_MAX + 1,
  })
})

test('what is no UTF-8 would arrive as something else', async () => {
  const read = await readPush(new Blob([new Uint8Array([0xff, 0xfe])]))
  assert.deepEqual(read, { ok: false, why: 'not_text', bytes: 2 })
})
