import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { AdminOperations, AdminRequest } from '../../../protocol/admin/operations.ts'
import type { AdminEntry } from '../../../protocol/admin/views.ts'
import { requireKnownTypes } from './known-event-types.ts'
import { readEntryPages, readLastEntries } from './read-entries.ts'

/** A log of `count` entries, of which only the number matters here, that remembers what it was asked. */
function createLog(count: number, isOld = false) {
  const requests: AdminRequest<'listEntries'>[] = []
  const entries = Array.from({ length: count }, (_, index) => ({ seq: index + 1 }) as AdminEntry)
  const operations = {
    listEntries: async (request: AdminRequest<'listEntries'>) => {
      requests.push(request)
      const { after = 0, limit = 0, last, before } = request
      const older = before === undefined || isOld ? entries : entries.slice(0, before - 1)
      return {
        eventos: last === undefined ? entries.slice(after, after + limit) : older.slice(-last),
      }
    },
  } as AdminOperations
  return { operations, requests, entries }
}

describe('readEntryPages', () => {
  for (const count of [0, 1, 500, 501, 1203]) {
    test(`reads each of ${count} entries once, in order`, async () => {
      const { operations, entries } = createLog(count)
      const read: AdminEntry[] = []
      for await (const page of readEntryPages(operations, {})) read.push(...page)
      assert.deepEqual(read, entries)
    })
  }

  test('asks for the same thing on every page', async () => {
    const { operations, requests } = createLog(501)
    for await (const page of readEntryPages(operations, { tipo: 'x' })) assert.ok(page.length > 0)
    assert.deepEqual(requests, [
      { tipo: 'x', after: 0, limit: 500 },
      { tipo: 'x', after: 500, limit: 500 },
      { tipo: 'x', after: 501, limit: 500 },
    ])
  })
})

/** It has one entry that matches, the 5th of ten, and looks at two for a page. */
const SLOW_LOG = {
  listEntries: async ({ after = 0, before = 11, last }: AdminRequest<'listEntries'>) => {
    const [from, to] = last === undefined ? [after + 1, after + 2] : [before - 2, before - 1]
    const eventos = from <= 5 && 5 <= to ? [{ seq: 5 } as AdminEntry] : []
    if (last === undefined) return { eventos, next: to >= 10 ? null : to }
    return { eventos, next: from <= 1 ? null : to, ...(from > 1 && { before: from }) }
  },
} as AdminOperations

describe('[API-60] a hub that looks at a part of its log for one page', () => {
  test('is asked until it has looked at all of it', async () => {
    const read: AdminEntry[] = []
    for await (const page of readEntryPages(SLOW_LOG, { tipo: 'x' })) read.push(...page)
    assert.deepEqual(read, [{ seq: 5 }])
  })

  test('is asked backwards until there are enough', async () => {
    assert.deepEqual(await readLastEntries(SLOW_LOG, { tipo: 'x' }, 3), [{ seq: 5 }])
  })

  test('is asked whether it knows a type at all', async () => {
    await requireKnownTypes(SLOW_LOG, ['rare_here'], '')
  })
})

describe('readLastEntries', () => {
  for (const [total, count] of [
    [10, 3],
    [3, 10],
    [1203, 500],
    [1203, 501],
    [2600, 600],
    [1203, 5000],
  ] as const) {
    test(`keeps the newest ${count} of ${total}, oldest first`, async () => {
      const { operations, entries } = createLog(total)
      assert.deepEqual(await readLastEntries(operations, {}, count), entries.slice(-count))
    })
  }

  test('[API-31] reads backwards from the newest, and nothing else', async () => {
    const { operations, requests } = createLog(100_000)
    await readLastEntries(operations, { agente: 'a' }, 1200)
    assert.deepEqual(requests, [
      { agente: 'a', last: 500 },
      { agente: 'a', last: 500, before: 99_501 },
      { agente: 'a', last: 200, before: 99_001 },
    ])
  })

  test('[API-31] [VER-8] reads the whole log of a hub that cannot do that', async () => {
    for (const [total, count] of [
      [1203, 501],
      [500, 600],
      [700, 5000],
    ] as const) {
      const { operations, entries } = createLog(total, true)
      assert.deepEqual(await readLastEntries(operations, {}, count), entries.slice(-count))
    }
  })

  test('asks once when a page holds them all', async () => {
    const { operations, requests } = createLog(1203)
    await readLastEntries(operations, { agente: 'a' }, 500)
    assert.deepEqual(requests, [{ agente: 'a', last: 500 }])
  })
})
