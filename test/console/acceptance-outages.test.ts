// A hub that is killed, a token that is revoked, a certificate that ends while somebody looks: what tabs that are open show, and how soon.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { placeBuiltConsole } from '../support/built-console.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { startDevCa } from '../support/dev-ca.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { findFreePort } from '../support/free-port.ts'
import { type HubProcess, startHubProcess } from '../support/hub-process.ts'
import { launchBrowser, openContext, passTime, settle } from './support/console-browser.ts'
import { watchStory } from './support/failed-story.ts'
import { enterToken, openConsole } from './support/open-console.ts'

/** Twice what is asked for: other programs have the machine too. The figure itself is printed. */
const LIVE_MS_MAX = 10_000
/** The page asks what goes with time every four seconds. */
const END_SHOWN_MS_MAX = 7000
const OUT_MS_MAX = 4000
const LIFE_SECONDS = 25
/** Longer than any pause of a page. */
const PAUSES_MS = 32_000

interface KillableConsole extends AsyncDisposable {
  readonly hub: HubProcess
  readonly browser: Browser
  readonly context: BrowserContext
  readonly page: Page
}

async function openKillableConsole(): Promise<KillableConsole> {
  await using opened = new AsyncDisposableStack()
  await placeBuiltConsole()
  const ca = opened.use(await startDevCa())
  const port = await findFreePort()
  const hub = opened.use(
    await startHubProcess({
      caEnvironment: ca.environment,
      environment: { SVC_ADMIN_BIND: `127.0.0.1:${port}`, SVC_SERVER_CN: 'localhost' },
    }),
  )
  const browser = await launchBrowser()
  opened.defer(() => browser.close())
  const { token } = await hub.admin<{ token: string }>('POST', '/v1/admin/admin-tokens', {
    name: 'oncall',
    role: 'admin',
    ttl_seconds: 3600,
  })
  const { context } = await openContext(browser, `https://localhost:${port}`)
  watchStory(context, () => hub.logText())
  const page = await context.newPage()
  await page.goto('/console/')
  await enterToken(page, token)
  await page.waitForSelector('#main h1, header h1')
  const kept = opened.move()
  return { hub, browser, context, page, [Symbol.asyncDispose]: () => kept.disposeAsync() }
}

const rowsOf = (page: Page): Promise<string[]> =>
  page
    .locator('table.data tbody tr:not(.room) a.whole-row')
    .evaluateAll((links) =>
      links.map((link) =>
        (link as unknown as { readonly href: string }).href.replace(/^.*\/(\d+).*$/, '$1'),
      ),
    )

describe('[DOR-1] a tab', WITH_BROWSER, () => {
  test('keeps its screen with its age while the hub is killed, and is live again with every entry once', async (t) => {
    await using opened = await openKillableConsole()
    const { hub, page, context } = opened
    for (let number = 0; number < 5; number += 1) {
      await hub.createToken({ hostname: `before-${number}.example.org` })
    }
    await page.goto('/console/audit?type=token_created')
    await page.locator('table.data').getByText('before-4').first().waitFor()
    await page.locator('.live', { hasText: 'Live' }).waitFor()
    const second = await context.newPage()
    await second.goto('/console/')
    await settle(second)

    await hub.stop('SIGKILL')
    await page.locator('.live.is-waiting', { hasText: /\d+ s/ }).waitFor({ timeout: 20_000 })
    assert.equal((await rowsOf(page)).length, 5, 'what was on the screen stays')
    await second.locator('.live.is-waiting').waitFor({ timeout: 20_000 })
    assert.match(await second.locator('main').innerText(), /The hub may stay down/)

    await second.getByRole('link', { name: 'Hosts' }).first().click()
    await second.getByRole('heading', { level: 1, name: 'The hub does not answer' }).waitFor()

    await hub.start()
    const startedMs = performance.now()
    await hub.createToken({ hostname: 'after-0.example.org' })
    await page
      .locator('.live:not(.is-waiting)', { hasText: 'Live' })
      .waitFor({ timeout: LIVE_MS_MAX })
    t.diagnostic(`live ${Math.round(performance.now() - startedMs)} ms after the hub listens`)
    await hub.createToken({ hostname: 'after-1.example.org' })
    const arrived = page.getByRole('button', { name: /new/ })
    await arrived.waitFor({ timeout: LIVE_MS_MAX })
    await page.waitForTimeout(1500)
    await arrived.click()
    await page.locator('table.data').getByText('after-1').first().waitFor()
    const rows = await rowsOf(page)
    assert.equal(rows.length, 7, rows.join(' '))
    assert.equal(new Set(rows).size, 7)
    assert.equal(await page.getByLabel('Admin token').count(), 0, 'still signed in')
    await second.locator('.live:not(.is-waiting)').waitFor({ timeout: LIVE_MS_MAX })
    await second.getByRole('heading', { level: 1, name: 'Hosts' }).waitFor()
    await second.getByText('A host is here once it has enrolled').waitFor({ timeout: LIVE_MS_MAX })
  })

  test('shows a screen that it saw before as it was, with the age of that, while the hub is away', async () => {
    await using opened = await openKillableConsole()
    const { hub, page } = opened
    await hub.createToken({ hostname: 'before.example.org' })
    await hub.admin('POST', '/v1/admin/politicas', { role: 'web', token_ttl_max: 10_800 })
    const goByLink = (name: string): Promise<void> =>
      page.locator('.side nav').getByRole('link', { name }).click()
    await page.goto('/console/policies/web')
    await page.getByLabel('Longest life of a token').waitFor()
    await settle(page)
    await goByLink('Enrolment')
    await page.getByRole('row', { name: 'before.example.org' }).waitFor()
    await settle(page)
    await goByLink('Overview')
    const leftMs = Date.now()
    for (let times = 0; times < 2; times += 1) await page.waitForResponse(/fleet\/summary/)
    await hub.stop('SIGKILL')
    await page.locator('.live.is-waiting', { hasText: /\d+ s/ }).waitFor({ timeout: 20_000 })

    await page.evaluate('history.back()')
    await page.getByRole('row', { name: 'before.example.org' }).waitFor()
    const age = (await page.locator('.live').textContent()) ?? ''
    const oldMs = Number(/(\d+) s old/.exec(age)?.[1]) * 1000
    assert.ok(oldMs >= Date.now() - leftMs - 3000, `${age}, and left ${Date.now() - leftMs} ms ago`)
    await page.getByText('What is on the screen stays, with its age.', { exact: false }).waitFor()
    await page.evaluate('history.back()')
    assert.equal(await page.getByLabel('Longest life of a token').inputValue(), '3h')

    // The file of that screen is here, and what it would show is not.
    await page.evaluate(`history.pushState({ depth: 0 }, '', '/console/policies/other')`)
    await page.evaluate('history.back()')
    await page.evaluate('history.forward()')
    await page.getByText('The console shows it once the hub answers.').waitFor()
    assert.equal(await page.getByText('What is on the screen stays').count(), 0)
    await hub.start()
    await page
      .getByText('This role has no policy of its own yet.')
      .waitFor({ timeout: LIVE_MS_MAX })
  })

  test('of a token that is revoked is signed out, and silent from then on, in every tab', async (t) => {
    await using opened = await openConsole()
    await using person = await opened.signIn('operator')
    const { page, context, tokenName } = person
    await context.clock.install()
    await page.goto('/console/hosts')
    await settle(page)
    const second = await context.newPage()
    await second.goto('/console/')
    await settle(second)
    const asked: string[] = []
    context.on('request', (request) => {
      const { pathname } = new URL(request.url())
      if (pathname.startsWith('/v1/')) asked.push(pathname)
    })
    await passTime(second, PAUSES_MS)
    assert.ok(asked.length > 0, 'an overview asks as time goes by')
    const revokedAtMs = performance.now()
    await opened.hub.admin('POST', '/v1/admin/admin-tokens/revoke', { token: tokenName })
    await Promise.all(
      [page, second].map((tab) => tab.getByLabel('Admin token').waitFor({ timeout: OUT_MS_MAX })),
    )
    t.diagnostic(`signed out ${Math.round(performance.now() - revokedAtMs)} ms after the act`)
    asked.length = 0
    await opened.hub.createToken({ hostname: 'unheard.example.org' })
    for (const tab of [page, second]) await passTime(tab, PAUSES_MS)
    assert.deepEqual(asked, [])
    person.assertBlameless()
  })

  test('shows the certificate that ends while nothing else happens, and every other tab does', async (t) => {
    await using opened = await openConsole({}, { certDuration: `${LIFE_SECONDS}s` })
    await using person = await opened.signIn('viewer')
    const { page, context } = person
    await enrollHost(opened.hub, 'planted.example.org')
    const endsAtMs = performance.now() + LIFE_SECONDS * 1000
    await page.goto('/console/')
    const second = await context.newPage()
    await second.goto('/console/')
    const list = await context.newPage()
    await list.goto('/console/hosts')
    const sinceEnd = async (shown: Promise<void>): Promise<number> => {
      await shown
      return Math.round(performance.now() - endsAtMs)
    }
    const waiting = { timeout: (LIFE_SECONDS + 30) * 1000 }
    const showsEnd = (tab: Page): Promise<number> =>
      sinceEnd(tab.locator('main').getByText('1 host has expired').first().waitFor(waiting))
    const table = list.locator('table.data')
    await table.getByText('On time').waitFor()
    const inList = sinceEnd(table.getByText('Expired').waitFor(waiting))
    const shownMs = await Promise.all([showsEnd(page), showsEnd(second), inList])
    t.diagnostic(`shown ${shownMs.join(', ')} ms after the end: two overviews, the list of hosts`)
    assert.ok(Math.max(...shownMs) < END_SHOWN_MS_MAX, shownMs.join(', '))
    person.assertBlameless()
  })
})
