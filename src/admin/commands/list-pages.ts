// A list of the hub, page by page, so that no list is ever held.

import { SvcError } from '../../platform/errors.ts'
import { readAhead } from './read-ahead.ts'

/** A page of a list, as the hub answers it; a hub from before pages answers the whole list, without `next`. */
export interface ListPage {
  readonly next?: string | null
}

export interface PageRequest {
  readonly after?: string
  readonly limit?: number
}

/** The first `limit` rows after the row `after`. */
export type ListRange = PageRequest

/** Small enough that the first row comes at once, and large enough that requests cost little. */
export const LIST_PAGE_ROWS = 2000

/** docs/protocol.md CLI-50, API-15. */
export async function* readListPages<Page extends ListPage, Row>(
  ask: (request: PageRequest) => Promise<Page>,
  rowsOf: (page: Page) => readonly Row[],
  { limit, ...start }: ListRange = {},
): AsyncGenerator<readonly Row[]> {
  let left = limit ?? Number.POSITIVE_INFINITY
  const first = await askFirst(ask, { ...start, ...sizeOf(left) })
  const pages = readAhead(first, (page) => {
    left -= rowsOf(page).length
    if (typeof page.next !== 'string' || left <= 0) return undefined
    return ask({ after: page.next, ...sizeOf(left) })
  })
  for await (const page of pages) {
    const rows = rowsOf(page)
    // The whole list of an older hub may be longer than what is wanted.
    yield left < 0 ? rows.slice(0, left) : rows
  }
}

function sizeOf(left: number): { limit: number } {
  return { limit: Math.min(LIST_PAGE_ROWS, left) }
}

/** A hub from before pages knows only the bare path. docs/protocol.md VER-8. */
async function askFirst<Page>(
  ask: (request: PageRequest) => Promise<Page>,
  request: PageRequest,
): Promise<Page> {
  try {
    return await ask(request)
  } catch (error) {
    const isOlder = error instanceof SvcError && error.code === 'route_not_found'
    if (!isOlder || request.after !== undefined) throw error
    return ask({})
  }
}
