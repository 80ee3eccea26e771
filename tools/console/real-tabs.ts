// Tabs of Chromium, one browser profile each: what they ask when entries ring is what the plain ones ask too.

import type { Page, Request } from 'playwright-core'
import { launchBrowser, openContext, settle } from '../../test/console/support/console-browser.ts'
import { SIGN_IN_PATH } from '../../src/protocol/admin/sessions.ts'
import { type AskedRequest, NEWEST } from './tab-commands.ts'

export interface RealTabs extends AsyncDisposable {
  open(): Promise<void>
  /** What each of them asks again and again while entries ring. */
  watch(ms: number): Promise<readonly (readonly AskedRequest[])[]>
  close(): Promise<void>
}

export async function startRealTabs(
  url: string,
  paths: readonly string[],
  makeCode: (name: string) => Promise<string>,
): Promise<RealTabs> {
  await using opened = new AsyncDisposableStack()
  const browser = await launchBrowser()
  opened.defer(() => browser.close())
  const pages: Page[] = []
  for (const path of paths) {
    const { context } = await openContext(browser, url)
    const page = await context.newPage()
    await page.goto(`${SIGN_IN_PATH}#code=${await makeCode(`real${path.replaceAll('/', '-')}`)}`)
    await page.waitForURL(`${url}/console/`)
    pages.push(page)
  }
  const kept = opened.move()
  return {
    open: async () => {
      await Promise.all(
        pages.map(async (page, at) => {
          await page.goto(paths[at] ?? '')
          await settle(page)
        }),
      )
    },
    watch: (ms) => Promise.all(pages.map((page) => listAsked(page, ms))),
    close: async () => {
      await Promise.all(pages.map((page) => page.goto('about:blank')))
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

/** What is asked twice or more is asked because of a ring. */
async function listAsked(page: Page, ms: number): Promise<readonly AskedRequest[]> {
  const counts = new Map<string, number>()
  const note = (request: Request): void => {
    const { pathname, search } = new URL(request.url())
    if (!pathname.startsWith('/v1/') || pathname === '/v1/admin/changes') return
    // The newest entry that was told of, whichever that is.
    const path = `${pathname}${search.replace(/after=\d+/, `after=${NEWEST}`)}`
    const key = JSON.stringify({ method: request.method(), path, body: request.postData() })
    counts.set(key, (counts.get(key) ?? 0) + 1)
  }
  page.on('request', note)
  await page.waitForTimeout(ms)
  page.off('request', note)
  return [...counts]
    .filter(([, count]) => count >= 2)
    .map(([key, count]) => ({ ...(JSON.parse(key) as AskedRequest), everyMs: ms / count }))
}
