import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openTemporaryStore } from '../../../../test/support/temporary-store.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { appendEntries } from '../append-entries.ts'
import { hubAct } from '../hub-acts.ts'
import { listRecords } from './list-records.ts'

test('[API-30] a page of the longest records is shorter than one of the shortest, and says where the next one begins', async () => {
  await using store = await openTemporaryStore()
  const append = (count: number, filling: string) =>
    store.write((writer) => {
      const payload = { actor: 'admin', filling }
      const acts = Array.from({ length: count }, () =>
        hubAct(new Date(0), HubEventType.tokenCreated, payload),
      )
      return appendEntries(writer, acts)
    })
  await append(600, 'x'.repeat(16_000))
  await append(1000, 'x')
  const context = {} as Parameters<typeof listRecords>[2]
  const pages: [size: number, next: number | null][] = []
  for (let after: number | null = 0; after !== null;) {
    const { registros, next } = await listRecords(store.reader, { after }, context)
    pages.push([registros.length, next])
    after = next
  }
  assert.deepEqual(pages, [
    [500, 500],
    [1100, null],
  ])
  const short = await listRecords(store.reader, { after: 600, limit: 700 }, context)
  assert.deepEqual([short.registros.length, short.next], [700, 1300])
})
