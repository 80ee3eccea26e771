// Every screen, of a fleet with two hundred hostile names and texts: they are shown as texts, and nothing of them is done.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser, Page } from 'playwright-core'
import { systemClock } from '../../src/platform/clock.ts'
import { packConsole } from '../../tools/build/console-bundle.ts'
import { placeConsole } from '../../tools/build/place-console.ts'
import { PICTURES } from '../../tools/console/picture-list.ts'
import { type SeededHub, startSeededHub } from '../../tools/console/seeded-hub.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { findFreePort } from '../support/free-port.ts'
import { launchBrowser, openContext, settle } from './support/console-browser.ts'

describe('a hostile fleet', WITH_BROWSER, () => {
  const started = new AsyncDisposableStack()
  let hub: SeededHub
  let browser: Browser
  before(async () => {
    await placeConsole(await packConsole())
    hub = started.use(
      await startSeededHub({
        hosts: 400,
        seed: 7,
        isHostile: true,
        port: await findFreePort(),
        clock: systemClock,
        progress: () => undefined,
      }),
    )
    browser = await launchBrowser()
    started.defer(() => browser.close())
  })
  after(() => started.disposeAsync())

  test('is shown as text on every screen', async () => {
    const { context, misdeeds } = await openContext(browser, hub.url)
    const page = await context.newPage()
    await page.goto(await hub.makeLink({ name: 'oncall', valid_seconds: 600 }))
    await page.waitForURL(`${hub.url}/console/`)
    const shown = new Map<string, string>()
    for (const { name, path, prepare } of PICTURES.filter(
      ({ isSignedOut }) => isSignedOut !== true,
    )) {
      await page.goto(`/console${path}`)
      await settle(page)
      const { pathname } = new URL(`/console${path}`, hub.url)
      assert.equal(new URL(page.url()).pathname, pathname, 'no text leads elsewhere')
      await prepare?.(page)
      await settle(page)
      shown.set(name, (await page.locator('body').textContent()) ?? '')
      assert.match(await page.title(), / · Cartorio$/, 'no script of theirs has set the title')
    }
    await context.close()
    assert.deepEqual(misdeeds, { reports: [], foreignRequests: [], errors: [] })
    assert.match(shown.get('overview') ?? '', /<script>document\.title=1<\/script>/)
  })

  test('is shown as text on the pages of its hosts, in the log and in each kind of entry', async () => {
    const { context, misdeeds } = await openContext(browser, hub.url)
    const page = await context.newPage()
    await page.goto(await hub.makeLink({ name: 'auditor', valid_seconds: 600 }))
    await page.waitForURL(`${hub.url}/console/`)
    await page.goto('/console/audit?routine=true')
    await page.locator('a.whole-row').first().waitFor()
    const entries = await pathsOf(page)
    const hosts: string[] = []
    for (const name of HOSTILE_NAMES) {
      await page.goto(`/console/hosts?q=${encodeURIComponent(name)}`)
      await page.locator('a.whole-row').first().waitFor()
      hosts.push(...(await pathsOf(page)).slice(0, 2))
    }
    assert.ok(hosts.length >= HOSTILE_NAMES.length)
    const paths = [...hosts, ...entries.slice(0, 12), '/console/evidence']
    for (const path of paths) {
      await page.goto(path)
      await settle(page)
      assert.equal(new URL(page.url()).pathname, new URL(path, hub.url).pathname)
      assert.match(await page.title(), / · Cartorio$/, path)
      assert.equal(await page.locator('main img, main script, main iframe').count(), 0, path)
      const tooWide = await page.evaluate<string[]>(FIND_TOO_WIDE)
      assert.deepEqual(tooWide, [], path)
    }
    await context.close()
    assert.deepEqual(misdeeds, { reports: [], foreignRequests: [], errors: [] })
  })
})

/** Parts of the names that the fleet's hostile hosts have, of each shape. */
const HOSTILE_NAMES = ['wwwwwwww', 'xn--', 'javascript-', 'constructor.', 'null.undefined', 'deep-']

const FIND_TOO_WIDE = `document.scrollingElement.scrollWidth <= innerWidth ? [] :
  Array.from(document.body.querySelectorAll('*'))
    .filter((one) => one.getBoundingClientRect().right > innerWidth)
    .map((one) => [one.tagName, one.getAttribute('class'), one.textContent.slice(0, 30)].join(' '))
    .slice(-8)`

function pathsOf(page: Page): Promise<string[]> {
  return page
    .locator('a.whole-row')
    .evaluateAll((links) => links.map((link) => String(link.getAttribute('href'))))
}
