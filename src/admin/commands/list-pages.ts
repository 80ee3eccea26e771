// A list of the hub, page by page, so that no list is ever held.

import { SvcError } from '../../platform/errors.ts'

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

/** Asks for each page before the caller has done with the one before. docs/protocol.md CLI-50, API-15. */
export async function* readListPages<Page extends ListPage, Row>(
  ask: (request: PageRequest) => Promise<Page>,
  rowsOf: (page: Page) => readonly Row[],
  range: ListRange = {},
): AsyncGenerator<readonly Row[]> {
  let left = range.limit ?? Number.POSITIVE_INFINITY
  const { after } = range
  let page = await askFirst(ask, { ...(after === undefined ? {} : { after }), ...sizeOf(left) })
  for (;;) {
    const rows = rowsOf(page)
    const wanted = rows.length > left ? rows.slice(0, left) : rows
    left -= wanted.length
    const following =
      typeof page.next === 'string' && left > 0
        ? ask({ after: page.next, ...sizeOf(left) })
        : undefined
    // A caller that stops early does not hear of its failure.
    following?.catch(() => undefined)
    yield wanted
    if (following === undefined) return
    page = await following
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
