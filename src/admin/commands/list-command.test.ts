import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ListPage, readWholeList } from './list-command.ts'

test('[API-15] all pages are one list, each asked for after the one before', async () => {
  const asked: unknown[] = []
  const rows = await readWholeList(
    async ({ after }) => {
      asked.push(after)
      return after === undefined ? { rows: [1, 2], next: '2' } : { rows: [3], next: null }
    },
    (page) => page.rows,
  )
  assert.deepEqual(rows, [1, 2, 3])
  assert.deepEqual(asked, [undefined, '2'])
})

test('[VER-8] the whole list of a hub that knows no pages may be any length', async () => {
  const all = Array.from({ length: 300_000 }, (_, index) => index)
  const rows = await readWholeList(
    async (): Promise<ListPage & { rows: number[] }> => ({ rows: all }),
    (page) => page.rows,
  )
  assert.equal(rows.length, all.length)
})
