import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createLateAnswer } from '../../../test/support/late-answer.ts'
import { createPageList, type Held, NO_PAGES, type PageOf } from './page-list.ts'

interface Row {
  readonly id: string
}

interface Question {
  readonly after: string | undefined
  readonly rowsMax: number | undefined
  answer(rows: string, next: string | null): Promise<void>
  refuse(error: Error): Promise<void>
}

const FORBIDDEN = new Error('forbidden')

/** A list whose answers come when the test says so. */
function openList() {
  const questions: Question[] = []
  let held: Held<Row> = NO_PAGES
  const list = createPageList<Row>({
    askPage: (after, rowsMax) => {
      const { promise, answer, refuse } = createLateAnswer<PageOf<Row>>()
      questions.push({
        after,
        rowsMax,
        answer: (rows, next) => answer({ rows: Array.from(rows, (id) => ({ id })), next }),
        refuse,
      })
      return promise
    },
    keep: (next) => {
      held = next
    },
    isForbidden: (error) => error === FORBIDDEN,
  })
  const shown = (): string => held.pages.flatMap(({ rows }) => rows.map(({ id }) => id)).join('')
  return { list, questions, shown, held: () => held }
}

describe('a list of pages', () => {
  test('[API-123] goes on where a page is empty and more follow', async () => {
    const { list, questions, shown, held } = openList()
    list.reload()
    await questions[0]?.answer('', 'a')
    assert.equal(held().isLoading, true, 'it is not empty')
    await questions[1]?.answer('', 'b')
    await questions[2]?.answer('xy', null)
    assert.deepEqual(
      questions.map(({ after }) => after),
      [undefined, 'a', 'b'],
    )
    assert.equal(shown(), 'xy')
    assert.equal(held().isLoading, false)
  })

  test('more that is wanted while an answer is on its way is asked for afterwards', async () => {
    const { list, questions, shown } = openList()
    list.reload()
    await questions[0]?.answer('ab', 'b')
    list.refresh()
    list.more()
    assert.equal(questions.length, 2)
    await questions[1]?.answer('ab', 'b')
    assert.equal(questions[2]?.after, 'b')
    await questions[2]?.answer('cd', null)
    assert.equal(shown(), 'abcd')
  })

  test('what happens while an answer is on its way is asked for afterwards', async () => {
    const { list, questions, held } = openList()
    list.reload()
    assert.equal(list.refresh(), true)
    assert.equal(list.refresh(), true)
    await questions[0]?.answer('ab', 'b')
    assert.equal(questions.length, 2)
    await questions[1]?.answer('xab', 'b')
    assert.equal(held().arrived, 1)
    list.refresh()
    list.more()
    list.refresh()
    await questions[2]?.answer('ab', 'b')
    await questions[3]?.answer('ab', 'b')
    await questions[4]?.answer('cd', null)
    assert.deepEqual(
      questions.map(({ after }) => after),
      [undefined, undefined, undefined, undefined, 'b'],
    )
  })

  test('of a list that begins again, the page that was on its way does not count', async () => {
    const { list, questions, shown } = openList()
    list.reload()
    await questions[0]?.answer('ab', 'b')
    list.more()
    list.reload()
    await questions[2]?.answer('zab', 'b')
    await questions[1]?.answer('cd', null)
    assert.equal(shown(), 'zab')
  })

  test('of two beginnings the newer one counts, whichever answer comes first', async () => {
    const { list, questions, shown } = openList()
    list.reload()
    list.reload()
    await questions[1]?.answer('new', null)
    await questions[0]?.answer('old', null)
    assert.equal(shown(), 'new')
  })

  test('one that failed at first is asked for again', async () => {
    const { list, questions, shown, held } = openList()
    list.reload()
    await questions[0]?.refuse(new Error('no answer'))
    assert.equal(held().error?.message, 'no answer')
    assert.equal(list.refresh(), true)
    await questions[1]?.answer('ab', null)
    assert.equal(shown(), 'ab')
    assert.equal(held().error, undefined)
  })

  test('what the hub no longer shows goes, and is not asked for again', async () => {
    const { list, questions, shown, held } = openList()
    list.reload()
    await questions[0]?.answer('ab', null)
    list.refresh()
    await questions[1]?.refuse(FORBIDDEN)
    assert.equal(shown(), '')
    assert.equal(held().error, FORBIDDEN)
    assert.equal(list.refresh(), false)
    assert.equal(questions.length, 2)
  })

  test('of a page, the rows in view are asked for again, and what nobody looked at is not gone', async () => {
    const { list, questions, shown, held } = openList()
    list.reload()
    await questions[0]?.answer('abcdef', 'f')
    list.look(0, 3)
    list.refresh()
    assert.equal(questions[1]?.rowsMax, 3)
    await questions[1]?.answer('abc', 'c')
    assert.deepEqual([shown(), held().arrived], ['abcdef', 0])
    list.refresh()
    await questions[2]?.answer('zab', 'b')
    assert.deepEqual([shown(), held().arrived], ['abcdef', 1], 'it pushed another one out')
  })

  test('a page whose end is in view is asked for whole', async () => {
    const { list, questions, held } = openList()
    list.reload()
    await questions[0]?.answer('abc', null)
    list.look(0, 3)
    list.refresh()
    assert.equal(questions[1]?.rowsMax, undefined)
    await questions[1]?.answer('abcd', null)
    assert.equal(held().arrived, 1)
  })

  test('nothing counts after its end', async () => {
    const { list, questions, shown } = openList()
    list.reload()
    list.stop()
    await questions[0]?.answer('ab', null)
    assert.equal(shown(), '')
  })
})
