import { UserError } from '../../platform/errors.ts'
import { LIST_PAGE_MAX } from '../../protocol/admin-routes.ts'
import type { Page } from '../store/store.ts'

interface PageRequest {
  readonly after?: string
  readonly limit?: number
}

interface RowsAndNext<Row> {
  readonly rows: Row[]
  /** What the next page starts after; null when there is none. */
  readonly next: string | null
}

export async function readPage<T, Row extends { readonly id: string }>(
  { after, limit = LIST_PAGE_MAX }: PageRequest,
  read: (page: Page) => Promise<T[] | undefined>,
  view: (row: T) => Row,
): Promise<RowsAndNext<Row>> {
  // One more than wanted tells whether there is a next page.
  const found = await read({ after, limit: limit + 1 })
  if (found === undefined) {
    throw new UserError('cursor_unknown', `after: there is no ${after} in this list`, {
      hint: 'it is the next of the page before',
    })
  }
  const rows = found.slice(0, limit).map(view)
  return { rows, next: found.length > limit ? (rows.at(-1)?.id ?? null) : null }
}

/** A page of a list that is short enough to be read whole. */
export function pageOf<Row extends { readonly id: string }>(
  rows: readonly Row[],
  { after, limit }: Page,
): Row[] | undefined {
  const start = after === undefined ? 0 : rows.findIndex(({ id }) => id === after) + 1
  return after !== undefined && start === 0 ? undefined : rows.slice(start, start + limit)
}
