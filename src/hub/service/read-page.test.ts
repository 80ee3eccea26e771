import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from '../store/store.ts'
import { pageOf, readPage } from './read-page.ts'

interface Row {
  readonly id: string
}

const rows = (count: number): Row[] =>
  Array.from({ length: count }, (_, index) => ({ id: `${index}` }))

/** A table of so many rows, and the pages that were asked of it. */
function tableOf(count: number) {
  const asked: Page[] = []
  const table = rows(count)
  const read = async (page: Page): Promise<Row[] | undefined> => {
    asked.push(page)
    return pageOf(table, page)
  }
  return {
    asked,
    list: (request: { after?: string; limit?: number }) =>
      readPage(request, read, ({ id }) => ({ id })),
  }
}

describe('[API-15] a page of a list', () => {
  test('has so many rows, and says what the next one starts after', async () => {
    const { list } = tableOf(5)
    assert.deepEqual(await list({ limit: 2 }), { rows: [{ id: '0' }, { id: '1' }], next: '1' })
    assert.deepEqual(await list({ limit: 2, after: '1' }), {
      rows: [{ id: '2' }, { id: '3' }],
      next: '3',
    })
    assert.deepEqual(await list({ limit: 2, after: '3' }), { rows: [{ id: '4' }], next: null })
    assert.deepEqual(await list({ limit: 5 }), { rows: rows(5), next: null })
    assert.deepEqual(await list({ after: '4' }), { rows: [], next: null })
  })

  test('is refused after a row that there is not', async () => {
    await assert.rejects(tableOf(5).list({ after: '9' }), {
      code: 'cursor_unknown',
      message: 'after: there is no 9 in this list',
    })
  })

  test('has 10,000 rows when nobody says how many', async () => {
    const { list } = tableOf(10_001)
    const { rows: page, next } = await list({})
    assert.deepEqual([page.length, next], [10_000, '9999'])
  })

  test('[FLT-8] is read a thousand rows at a time', async () => {
    const { list, asked } = tableOf(2500)
    const { rows: page } = await list({ limit: 2100 })
    assert.deepEqual(page, rows(2100))
    assert.deepEqual(
      asked.map(({ after, limit }) => [after, limit]),
      [
        [undefined, 1000],
        ['999', 1000],
        ['1999', 101],
      ],
    )
  })
})
