import assert from 'node:assert/strict'
import { test } from 'node:test'
import { NOW } from '../../../../test/store/store-samples.ts'
import { createSampleRoot } from '../../../../test/support/sample-roots.ts'
import { CurrentRootSet } from './current-root-set.ts'

test('[TRU-3] [TRU-17] the set in force is what a poll is answered, and its época only when it is a later one', async () => {
  const until = new Date(NOW.getTime() + 86_400_000)
  const [old, next] = [await createSampleRoot('Old', until), await createSampleRoot('Next', until)]
  const first = { epoch: 1, number: 3, pem: old.pem, createdAt: NOW }
  const current = new CurrentRootSet(first)
  assert.equal(current.set, first)
  assert.deepEqual(current.reply, { numero: 3, roots: [old.pem] })
  const { reply } = current
  const second = { epoch: 2, number: 1, pem: old.pem + next.pem, createdAt: NOW }
  current.replace(second)
  assert.equal(current.set, second)
  assert.deepEqual(
    current.roots.map(({ sha256 }) => sha256),
    [old.sha256, next.sha256],
  )
  assert.deepEqual(current.reply, { numero: 1, epoca: 2, roots: [old.pem, next.pem] })
  assert.deepEqual(reply, { numero: 3, roots: [old.pem] }, 'what is being sent stays as it is')
})
