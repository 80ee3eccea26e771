import assert from 'node:assert/strict'
import { test } from 'node:test'
import { append, newEntry } from '../../../../test/store/store-samples.ts'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { sampleWebhook } from '../../../../test/support/webhook-samples.ts'
import { appendEntries } from '../append-entries.ts'
import type { Store } from '../../store/store.ts'
import { countBacklog } from './count-backlog.ts'

async function backlog(
  { reader }: Store,
  cursorSeq: number,
  types: string[] = [],
): Promise<number> {
  const sample = sampleWebhook({ types })
  return countBacklog(reader, { ...sample, progress: { ...sample.progress, cursorSeq } })
}

test('[WHK-1] what waits is what was recorded since, of its types, and never webhook_dead', async () => {
  await using store = await openTemporaryStore()
  assert.equal(await backlog(store, 0), 0)
  for (const eventType of ['a', 'b', 'webhook_dead', 'a', 'webhook_dead']) {
    await append(store, { eventType })
  }
  assert.equal(await backlog(store, 0), 3)
  assert.equal(await backlog(store, 1), 2)
  assert.equal(await backlog(store, 4), 0)
  assert.equal(await backlog(store, 9), 0, 'a cursor that is ahead of the log waits for nothing')
  assert.equal(await backlog(store, 0, ['a']), 2)
  assert.equal(await backlog(store, 1, ['a', 'b']), 2)
  assert.equal(await backlog(store, 0, ['c']), 0)
})

test('[WHK-1] of each of its types no more than a thousand are counted', async () => {
  await using store = await openTemporaryStore()
  const entries = ['a', 'b'].flatMap((eventType) =>
    Array.from({ length: 1001 }, () => newEntry({ eventType })),
  )
  await store.write((writer) => appendEntries(writer, entries))
  assert.equal(await backlog(store, 0), 2002)
  assert.equal(await backlog(store, 0, ['a', 'b']), 2000)
})
