import { setImmediate as nextTurn } from 'node:timers/promises'
import { AdminRefusal } from './admin-act.ts'
import { parseInstant } from '../../platform/instants.ts'
import { LIST_PAGE_MAX } from '../../protocol/admin/bounds.ts'
import type { Page } from '../store/store.ts'

interface PageRequest {
  readonly after?: string
  readonly limit?: number
}

interface RowsAndNext<Row> {
  readonly rows: Row[]
  /** What the next page starts after; null when there is no next page. */
  readonly next: string | null
}

/** Of a long page so many rows are read at a time, with a turn for everybody else in between. */
const STEP_ROWS = 1000

export async function readPage<T, Row extends { readonly id: string }>(
  { after, limit = LIST_PAGE_MAX }: PageRequest,
  read: (page: Page) => Promise<T[] | undefined>,
  view: (row: T) => Row,
): Promise<RowsAndNext<Row>> {
  const rows: Row[] = []
  let start = after
  for (;;) {
    // One more than wanted tells whether there is a next page.
    const step = { after: start, limit: Math.min(STEP_ROWS, limit + 1 - rows.length) }
    const found = await read(step)
    if (found === undefined) throw cursorUnknown(after)
    rows.push(...found.map(view))
    if (found.length < step.limit || rows.length > limit) break
    start = rows.at(-1)?.id
    await nextTurn()
  }
  const page = rows.slice(0, limit)
  return { rows: page, next: rows.length > limit ? (page.at(-1)?.id ?? null) : null }
}

function cursorUnknown(after: string | undefined): AdminRefusal {
  return new AdminRefusal('cursor_unknown', `after: there is no ${after} in this list`)
}

/** A page of a list that is short enough to be read whole. */
export function pageOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  { after, limit }: Page,
): Row[] | undefined {
  const start = after === undefined ? 0 : rows.findIndex(({ id }) => id === after) + 1
  return after !== undefined && start === 0 ? undefined : rows.slice(start, start + limit)
}

/** Throws an AdminRefusal on what is no time of RFC 3339 (docs/protocol.md API-26). */
export function parseTime(text: string): Date {
  const time = parseInstant(text)
  if (time !== undefined) return time
  throw new AdminRefusal('time_invalid', `${text} is not a time`)
}
