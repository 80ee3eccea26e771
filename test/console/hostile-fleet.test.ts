// Every screen, of a fleet with two hundred hostile names and texts: they are shown as texts, and nothing of them is done.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { PICTURES } from '../../tools/console/picture-list.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { settle } from './support/console-browser.ts'
import { openSeededConsole, type SeededConsole } from './support/seeded-console.ts'

describe('a hostile fleet', WITH_BROWSER, () => {
  let opened: SeededConsole
  before(async () => {
    opened = await openSeededConsole(400, { isHostile: true })
  })
  after(() => opened[Symbol.asyncDispose]())

  test('is shown as text on every screen', async () => {
    await using person = await opened.signIn('admin')
    const { page, misdeeds } = person
    const shown = new Map<string, string>()
    for (const { name, path, prepare } of PICTURES.filter(
      ({ isSignedOut }) => isSignedOut !== true,
    )) {
      await page.goto(`/console${path}`)
      await settle(page)
      const { pathname } = new URL(`/console${path}`, opened.hub.url)
      assert.equal(new URL(page.url()).pathname, pathname, 'no text leads elsewhere')
      if (prepare !== undefined) {
        await prepare(page)
        await settle(page)
      }
      shown.set(name, (await page.locator('body').textContent()) ?? '')
      assert.match(await page.title(), / · Cartorio$/, 'no script of theirs has set the title')
    }
    assert.deepEqual(misdeeds, { reports: [], foreignRequests: [], errors: [] })
    assert.match(shown.get('overview') ?? '', /<script>document\.title=1<\/script>/)
  })

  test('is shown as text on the pages of its hosts, in the log and in each kind of entry', async () => {
    await using person = await opened.signIn('admin')
    const { page, misdeeds } = person
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
      assert.equal(new URL(page.url()).pathname, new URL(path, opened.hub.url).pathname)
      assert.match(await page.title(), / · Cartorio$/, path)
      assert.equal(await page.locator('main img, main script, main iframe').count(), 0, path)
      const tooWide = await page.evaluate<string[]>(FIND_TOO_WIDE)
      assert.deepEqual(tooWide, [], path)
    }
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
