// Where many look, a page asks less often, as the hub tells it: with a real hub, whose other readers are plain streams.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { systemClock } from '../../src/platform/clock.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { waitUntil } from '../support/processes.ts'
import { openStream } from '../support/stream-client.ts'
import { settle } from './support/console-browser.ts'
import { type OpenConsole, openConsole } from './support/open-console.ts'

const OTHERS = 40
/** docs/protocol.md DOR-8. */
const STREAMS_OF_A_TOKEN = 20
const WATCHED_MS = 15_000
const ENTRY_EVERY_MS = 400

describe('[DOR-11] a page', WITH_BROWSER, () => {
  test('asks less often while many look', async (t) => {
    await using opened = await openConsole()
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/')
    await settle(page)
    const alone = await countSummaries(opened, page)

    const tokens: string[] = []
    while (tokens.length < OTHERS / STREAMS_OF_A_TOKEN) {
      tokens.push(await opened.makeToken(`others-${tokens.length}`, 'viewer'))
    }
    const ca = await readFile(join(opened.hub.vaultRoot, 'ca.crt'), 'utf8')
    const target = { port: opened.hub.ports.admin ?? 0, tls: { ca, servername: 'localhost' } }
    const path = '/v1/admin/changes'
    const others = await Promise.all(
      Array.from({ length: OTHERS }, (_, at) =>
        openStream(target, {
          path,
          headers: { authorization: `Bearer ${tokens[at % tokens.length]}` },
        }),
      ),
    )
    await waitUntil(
      'the last one has heard how many they are',
      () => others.at(-1)?.text().includes('event: pace') || undefined,
    )
    // The page hears of them with the next ring.
    await opened.hub.createToken({ hostname: 'heard.example.org' })
    const crowded = await countSummaries(opened, page)
    t.diagnostic(`${alone} questions in ${WATCHED_MS / 1000} s alone, ${crowded} among ${OTHERS}`)
    assert.ok(alone >= 5, `${alone} questions`)
    assert.ok(crowded >= 2 && crowded <= 5, `${crowded} questions`)
    assert.ok(crowded < alone, `${crowded} of ${alone} questions`)
    for (const other of others) other.close()
  })
})

/** While an entry rings again and again. */
async function countSummaries({ hub }: OpenConsole, page: Page): Promise<number> {
  let count = 0
  const note = (request: { url(): string }): void => {
    if (new URL(request.url()).pathname === '/v1/admin/fleet/summary') count += 1
  }
  page.on('request', note)
  const endMs = performance.now() + WATCHED_MS
  while (performance.now() < endMs) {
    await hub.createToken({ hostname: `ring-${Date.now()}.example.org` })
    await systemClock.sleep(ENTRY_EVERY_MS)
  }
  page.off('request', note)
  return count
}
