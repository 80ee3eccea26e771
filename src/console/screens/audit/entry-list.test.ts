import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLateAnswer } from '../../../../test/support/late-answer.ts'
import type { AdminReplies } from '../../api/operations.ts'
import { createEntryList, type Entry, type HeldEntries, NO_ENTRIES } from './entry-list.ts'

type EntryPage = AdminReplies['listEntries']

interface Question {
  readonly last: number
  readonly before?: number
  readonly after?: number
}

interface Asked extends Question {
  /** With these entries, oldest first; `next` where more follow. */
  answer(seqs: readonly number[], next?: number): Promise<void>
  refuse(error: Error): Promise<void>
}

const FORBIDDEN = new Error('forbidden')
const BUSY = new Error('busy')

const entryOf = (seq: number): Entry => ({
  seq,
  id: String(seq),
  agente_id: null,
  hostname: null,
  tipo_evento: 'token_created',
  payload: {},
  payload_text: '{}',
  entrega_id: null,
  request_id: null,
  timestamp: '2026-01-31T12:00:00.000Z',
  hash_anterior: '',
  hash_atual: '',
})

/** A list whose answers come when the test says so. */
function openList() {
  const questions: Asked[] = []
  let held: HeldEntries = NO_ENTRIES
  const list = createEntryList({
    ask: (range) => {
      const { promise, answer, refuse } = createLateAnswer<EntryPage>()
      questions.push({
        ...range,
        answer: (seqs, next) => {
          const eventos = seqs.map(entryOf)
          return answer({
            eventos,
            next: next ?? null,
            ...(next !== undefined && { before: next }),
          })
        },
        refuse,
      })
      return promise
    },
    keep: (next) => {
      held = next
    },
    isForbidden: (error) => error === FORBIDDEN,
  })
  const shown = (): number[] => held.rows.map(({ seq }) => seq)
  return { list, questions, shown, held: () => held }
}

/** Entries 8 and 9 are shown, and older ones follow. */
async function openNinth() {
  const opened = openList()
  opened.list.reload()
  await opened.questions[0]?.answer([8, 9], 8)
  return opened
}

describe('[ADT-6] a list of entries', () => {
  test('what came is counted above the newest one that was looked at, and waits', async () => {
    const { list, questions, shown, held } = await openNinth()
    list.refresh()
    assert.equal(questions[1]?.after, 9)
    await questions[1]?.answer([10, 12])
    list.refresh()
    assert.equal(questions[2]?.after, 12)
    await questions[2]?.answer([13])
    assert.deepEqual([shown(), held().arrived], [[9, 8], 3])
  })

  test('older entries take nothing away from what came, and what is counted next goes on behind it', async () => {
    const { list, questions, shown, held } = await openNinth()
    list.refresh()
    await questions[1]?.answer([10, 11, 12])
    list.more()
    assert.equal(questions[2]?.before, 8)
    await questions[2]?.answer([6, 7])
    assert.deepEqual([shown(), held().arrived], [[9, 8, 7, 6], 3])
    list.refresh()
    assert.equal(questions[3]?.after, 12)
    list.reload()
    await questions[4]?.answer([11, 12])
    assert.deepEqual([shown(), held().arrived], [[12, 11], 0], 'a click shows them')
  })

  test('what comes while an answer is on its way is counted afterwards, of a page and of a count', async () => {
    const { list, questions, held } = await openNinth()
    list.more()
    list.refresh()
    assert.equal(questions.length, 2)
    await questions[1]?.answer([6, 7])
    assert.equal(questions[2]?.after, 9)
    list.refresh()
    list.refresh()
    await questions[2]?.answer([10])
    assert.equal(questions[3]?.after, 10)
    await questions[3]?.answer([11])
    assert.equal(held().arrived, 2)
    assert.equal(questions.length, 4)
  })

  test('what comes while the list begins again is counted afterwards', async () => {
    const { list, questions, held } = await openNinth()
    list.reload()
    list.refresh()
    await questions[1]?.answer([8, 9])
    await questions[2]?.answer([10])
    assert.equal(held().arrived, 1)
  })

  test('older entries that are wanted during a count come after it', async () => {
    const { list, questions, shown, held } = await openNinth()
    list.refresh()
    list.more()
    await questions[1]?.answer([10])
    assert.equal(questions[2]?.before, 8)
    await questions[2]?.answer([7])
    assert.deepEqual([shown(), held().arrived], [[9, 8, 7], 1])
  })

  test('a count that the hub was too busy for is made up for, and its error goes', async () => {
    const { list, questions, shown, held } = await openNinth()
    list.refresh()
    await questions[1]?.refuse(BUSY)
    assert.deepEqual([list.error(), shown()], [BUSY, [9, 8]])
    assert.equal(questions.length, 2, 'not at once')
    list.refresh()
    await questions[2]?.answer([])
    assert.equal(list.error(), undefined)
    list.refresh()
    await questions[3]?.refuse(BUSY)
    list.more()
    await questions[4]?.answer([7])
    assert.equal(questions[5]?.after, 9, 'after the next answer that is one')
    await questions[5]?.answer([10])
    assert.equal(held().arrived, 1)
  })

  test('above so many that nobody counts further nothing is asked, but for an error that would stay', async () => {
    const { list, questions, held } = await openNinth()
    list.refresh()
    await questions[1]?.answer(Array.from({ length: 50 }, (_, at) => 10 + at))
    list.refresh()
    assert.equal(questions.length, 2)
    list.more()
    await questions[2]?.refuse(BUSY)
    list.refresh()
    await questions[3]?.answer([])
    assert.deepEqual([held().arrived, held().error], [50, undefined])
  })

  test('a page in which none matches leads to the next one, and an empty list begins again', async () => {
    const { list, questions, shown, held } = openList()
    list.reload()
    await questions[0]?.answer([], 400)
    assert.equal(held().isLoading, true, 'it is not empty')
    assert.equal(questions[1]?.before, 400)
    await questions[1]?.answer([])
    assert.equal(held().isLoading, false)
    list.refresh()
    assert.deepEqual([questions[2]?.before, questions[2]?.after], [undefined, undefined])
    await questions[2]?.answer([401])
    assert.deepEqual([shown(), held().arrived], [[401], 0])
  })

  test('of a list that begins again, the page that was on its way does not count', async () => {
    const { list, questions, shown } = await openNinth()
    list.more()
    list.reload()
    await questions[2]?.answer([9, 10])
    await questions[1]?.answer([7])
    assert.deepEqual(shown(), [10, 9])
  })

  test('what the hub no longer shows goes, and is not asked for again', async () => {
    const { list, questions, shown, held } = await openNinth()
    list.refresh()
    await questions[1]?.refuse(FORBIDDEN)
    assert.deepEqual([shown(), held().error], [[], FORBIDDEN])
    assert.equal(list.refresh(), false)
    assert.equal(questions.length, 2)
  })

  test('nothing counts after its end', async () => {
    const { list, questions, shown } = openList()
    list.reload()
    list.stop()
    await questions[0]?.answer([8, 9])
    assert.deepEqual(shown(), [])
  })
})
