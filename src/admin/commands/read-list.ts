/** A page of a list, as the hub answers it; a hub of before there were pages answers the whole list, without `next`. */
export interface ListPage {
  readonly next?: string | null
}

/** All rows of a list, page by page. */
export async function readWholeList<Page extends ListPage, Row>(
  ask: (request: { after?: string }) => Promise<Page>,
  rowsOf: (page: Page) => readonly Row[],
): Promise<Row[]> {
  const rows: Row[] = []
  let after: string | null | undefined
  do {
    const page = await ask(typeof after === 'string' ? { after } : {})
    // One by one: a whole list of such a hub is more than a call takes arguments.
    for (const row of rowsOf(page)) rows.push(row)
    after = page.next
  } while (typeof after === 'string')
  return rows
}
