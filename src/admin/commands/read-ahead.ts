/**
 * A page and those that follow it. Asks for each page before the caller has done with the one before; a caller that stops early
 * does not hear of its failure.
 */
export async function* readAhead<Page>(
  first: Page,
  askFollowing: (page: Page) => Promise<Page> | undefined,
): AsyncGenerator<Page> {
  for (let page = first; ;) {
    const following = askFollowing(page)
    following?.catch(() => undefined)
    yield page
    if (following === undefined) return
    page = await following
  }
}
