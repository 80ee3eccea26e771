import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { UserError } from '../../platform/errors.ts'
import { type ListPage, type ListRange, type PageRequest, readListPages } from './list-pages.ts'

/** A hub that has this many rows and answers no more than 3000 of them at a time. */
function createHub(count: number) {
  const asked: PageRequest[] = []
  const all = Array.from({ length: count }, (_, index) => index + 1)
  const ask = async (request: PageRequest): Promise<ListPage & { rows: number[] }> => {
    asked.push(request)
    const start = Number(request.after ?? 0)
    const rows = all.slice(start, start + (request.limit ?? 3000))
    const last = rows.at(-1) ?? count
    return { rows, next: last < count ? String(last) : null }
  }
  return { asked, ask, all }
}

async function read(hub: ReturnType<typeof createHub>, range?: ListRange): Promise<number[][]> {
  const pages: number[][] = []
  for await (const rows of readListPages(hub.ask, (page) => page.rows, range)) pages.push([...rows])
  return pages
}

describe('a list', () => {
  test('[API-15] [CLI-50] comes in pages, each asked for after the one before', async () => {
    const hub = createHub(4500)
    const pages = await read(hub)
    assert.deepEqual(pages.flat(), hub.all)
    assert.deepEqual(hub.asked, [
      { limit: 2000 },
      { after: '2000', limit: 2000 },
      { after: '4000', limit: 2000 },
    ])
  })

  test('[CLI-50] is asked for its next page before the caller has done with one', async () => {
    const hub = createHub(4500)
    const pages = readListPages(hub.ask, (page) => page.rows)
    await pages.next()
    assert.equal(hub.asked.length, 2)
    await pages.return(undefined)
  })

  test('[CLI-50] begins after a row, and ends after as many rows as wanted', async () => {
    const hub = createHub(4500)
    const pages = await read(hub, { after: '7', limit: 2001 })
    assert.deepEqual(pages.flat(), hub.all.slice(7, 2008))
    assert.deepEqual(hub.asked, [
      { after: '7', limit: 2000 },
      { after: '2007', limit: 1 },
    ])
  })

  test('without rows is one empty page', async () => {
    assert.deepEqual(await read(createHub(0)), [[]])
  })
})

describe('[VER-8] the list of a hub that knows no pages', () => {
  const all = Array.from({ length: 300_000 }, (_, index) => index)
  const ask = async (request: PageRequest): Promise<ListPage & { rows: number[] }> => {
    if (Object.keys(request).length === 0) return { rows: all }
    throw new UserError('route_not_found', 'this hub has no operation /v1/agentes')
  }

  test('may be any length, and is cut to what is wanted', async () => {
    const count = async (range: ListRange): Promise<number> => {
      let rows = 0
      for await (const page of readListPages(ask, (one) => one.rows, range)) rows += page.length
      return rows
    }
    assert.equal(await count({}), all.length)
    assert.equal(await count({ limit: 5 }), 5)
    await assert.rejects(count({ after: '5' }), { code: 'route_not_found' })
  })
})
