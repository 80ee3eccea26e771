// Every screen, of a fleet with two hundred hostile names and texts: they are shown as texts, and nothing of them is done.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Browser } from 'playwright-core'
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
      assert.equal(new URL(page.url()).pathname, `/console${path}`, 'no text leads elsewhere')
      await prepare?.(page)
      await settle(page)
      shown.set(name, (await page.locator('body').textContent()) ?? '')
      assert.match(await page.title(), / · Cartorio$/, 'no script of theirs has set the title')
    }
    await context.close()
    assert.deepEqual(misdeeds, { reports: [], foreignRequests: [], errors: [] })
    assert.match(shown.get('overview') ?? '', /<script>document\.title=1<\/script>/)
  })
})
