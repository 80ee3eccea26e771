// What the pages of a story showed when it failed: a wait that ended in vain does not say what was there instead.

import { afterEach } from 'node:test'
import type { BrowserContext, Page } from 'playwright-core'
import { listOpenRequests } from './console-browser.ts'

const TEXT_MAX = 1200
const LOG_LINES = 12
const PAGE_MS_MAX = 2000

interface Watched {
  readonly context: BrowserContext
  /** All that the hub has written so far. */
  readonly hubLog: () => string
}

const watched = new Set<Watched>()
const closed: string[] = []

/** From now on a story that fails says what the pages of this browser show. Answers how to close it. */
export function watchStory(context: BrowserContext, hubLog: () => string): () => Promise<void> {
  const one = { context, hubLog }
  watched.add(one)
  context.once('close', () => watched.delete(one))
  return async () => {
    // Before anybody knows whether the story fails.
    closed.push(await describe(one))
    await context.close()
  }
}

afterEach(async (t) => {
  const told = closed.splice(0)
  // @types/node does not have it yet.
  if ((t as typeof t & { readonly passed: boolean }).passed) return
  for (const one of watched) told.push(await describe(one))
  process.stdout.write(`${t.name} failed at:\n${told.join('\n')}\n`)
})

async function describe({ context, hubLog }: Watched): Promise<string> {
  const pages = await Promise.all(context.pages().map((page) => describePage(page)))
  const log = hubLog().trimEnd().split('\n').slice(-LOG_LINES)
  return [...pages, 'the hub:', ...log].join('\n')
}

async function describePage(page: Page): Promise<string> {
  const waits = listOpenRequests(page).map((url) => `\n  waits for ${url}`)
  return `${page.url()}${waits.join('')}\n${await readText(page)}`
}

/** A page that hangs does not answer at all. */
async function readText(page: Page): Promise<string> {
  const text = page
    .evaluate<string>(
      `document.visibilityState + ', ' + (document.querySelector('dialog[open]') ?? document.body).innerText`,
    )
    .catch(String)
  const late = new Promise<string>((resolve) => {
    setTimeout(resolve, PAGE_MS_MAX, 'it does not answer').unref()
  })
  return (await Promise.race([text, late])).slice(0, TEXT_MAX)
}
