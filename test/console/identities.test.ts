// Several people in one browser, a session that ends, and a token of some hosts: nobody acts as another one, and no page asks what the
// hub would refuse.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { passTime, settle } from './support/console-browser.ts'
import { enterToken, openConsole, type OpenConsole } from './support/open-console.ts'

const TWO_POLLS_MS = 31_000

describe('who is in', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
    await enrollHost(opened.hub, 'web-1.example.org')
  })
  after(() => opened[Symbol.asyncDispose]())

  const countRefusals = async (): Promise<number> => {
    const { eventos } = await opened.hub.admin<AdminReplies['listEntries']>(
      'POST',
      '/v1/admin/eventos/list',
      { tipo: 'admin_refused', last: 200 },
    )
    return eventos.length
  }
  const whoIn = (page: Page): Promise<string | null> =>
    page.locator('.side summary.who b').textContent()
  const makeLink = async (name: string, role: 'viewer' | 'admin'): Promise<string> => {
    const request = { name, role, valid_seconds: 120 }
    const { code } = await opened.hub.admin<{ code: string }>(
      'POST',
      '/v1/admin/sign-in-links',
      request,
    )
    return `${opened.origin}/console/sign-in#code=${code}`
  }

  test('a link that is opened by somebody who is in asks in whose place, and all tabs follow', async () => {
    const refusals = await countRefusals()
    await using person = await opened.signIn('viewer')
    const { page, context, tokenName } = person
    await page.goto('/console/access')
    await settle(page)
    const second = await context.newPage()
    await second.goto(await makeLink('bea', 'admin'))
    const dialog = second.getByRole('dialog', { name: 'Sign in' })
    await dialog.getByText(`in place of ${tokenName}?`, { exact: false }).waitFor()
    assert.equal(new URL(second.url()).hash, '', 'the code is out of the address')
    assert.equal(await whoIn(second), tokenName)
    await dialog.getByRole('button', { name: 'Sign in with the link' }).click()
    await second.locator('.side summary.who b', { hasText: 'bea' }).waitFor()
    // Nobody touched the first tab.
    await page.locator('.side summary.who b', { hasText: 'bea' }).waitFor()
    await settle(page)
    await page.reload()
    await page.locator('.side summary.who b', { hasText: 'bea' }).waitFor()
    // The end of the earlier session is not hers.
    await opened.hub.admin('POST', '/v1/admin/admin-tokens/revoke', { token: tokenName })
    await page.waitForTimeout(1000)
    assert.equal(await whoIn(page), 'bea')
    assert.equal(await whoIn(second), 'bea')
    assert.equal(await countRefusals(), refusals)
    person.assertBlameless()
  })

  test('a link that is declined changes nothing', async () => {
    await using person = await opened.signIn('viewer')
    const { page, tokenName } = person
    await page.goto(await makeLink('cea', 'admin'))
    await page.getByRole('button', { name: 'Stay signed in' }).click()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    assert.equal(await whoIn(page), tokenName)
    person.assertBlameless()
  })

  test('a session that ends in several tabs keeps the forms of each, and nothing is asked any more', async () => {
    await using person = await opened.signIn('operator')
    const { page, context, tokenName } = person
    await context.clock.install()
    const second = await context.newPage()
    for (const tab of [page, second]) {
      await tab.goto('/console/hosts')
      await settle(tab)
      await tab.getByPlaceholder('Selector, such as env=prod').fill('env=prod')
    }
    const refusals = await countRefusals()
    await opened.hub.admin('POST', '/v1/admin/admin-tokens/revoke', { token: tokenName })
    for (const tab of [page, second]) {
      await tab.getByRole('dialog', { name: 'Sign in' }).waitFor({ timeout: 20_000 })
    }
    for (const tab of [page, second]) {
      await passTime(tab, TWO_POLLS_MS)
    }
    assert.equal(await countRefusals(), refusals)
    // Another person: what is there is not theirs.
    await enterToken(second, await opened.makeToken('dea', 'viewer'))
    for (const tab of [page, second]) {
      await tab.locator('.side summary.who b', { hasText: 'dea' }).waitFor()
      await tab.getByRole('dialog').waitFor({ state: 'detached' })
    }
    person.assertBlameless()
  })

  test('a sign-out that the hub did not answer is none', async () => {
    await using person = await opened.signIn('viewer')
    const { page, tokenName } = person
    await page.route('**/v1/admin/sessions/**', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 503, json: { error: 'hub_busy', message: 'later' } })
        : route.continue(),
    )
    await page.locator('.side summary.who').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are still signed in.').waitFor()
    await page.unrouteAll()
    await page.reload()
    await page.locator('.side summary.who').waitFor()
    assert.equal(await whoIn(page), tokenName)
    person.assertBlameless()
  })

  test('[LBL-15] a token of some hosts sees what is about them, and is refused nothing', async () => {
    const refusals = await countRefusals()
    const { token } = await opened.hub.admin<{ token: string }>('POST', '/v1/admin/admin-tokens', {
      name: 'bounded',
      role: 'operator',
      only: 'role=web',
      ttl_seconds: 3600,
    })
    await using person = await opened.openPerson()
    const { page } = person
    await page.goto('/console/')
    await enterToken(page, token)
    await page.getByRole('heading', { level: 1, name: 'Hosts' }).waitFor()
    await settle(page)
    assert.equal(new URL(page.url()).pathname, '/console/hosts')
    assert.deepEqual(await page.locator('.side nav a').allTextContents(), [
      'Hosts',
      'Deliveries',
      'Certificates',
    ])
    await page.getByRole('link', { name: 'web-1.example.org' }).click()
    await page.getByRole('heading', { level: 2, name: 'web-1.example.org' }).waitFor()
    await settle(page)
    assert.equal(await page.locator('[aria-busy="true"]').count(), 0)
    for (const path of ['/deliveries', '/certificates', '/audit', '/access', '/policies']) {
      await page.goto(`/console${path}`)
      await settle(page)
      assert.equal(await page.locator('[aria-busy="true"]').count(), 0, path)
    }
    assert.equal(await countRefusals(), refusals)
    person.assertBlameless()
  })
})
