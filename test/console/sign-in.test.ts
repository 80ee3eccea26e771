// Who is in, and how one gets out: in Chromium, with a real hub.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { WITH_BROWSER } from '../support/browser.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { settle, THEMES } from './support/console-browser.ts'
import { enterToken, openConsole, type OpenConsole } from './support/open-console.ts'

describe('signing in', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
  })
  after(() => opened[Symbol.asyncDispose]())

  test('a wrong token is refused in words, and the right one is in', async () => {
    await using person = await opened.openPerson()
    const { page } = person
    await page.goto('/console/hosts')
    await enterToken(page, 'svca_wrong')
    const alert = page.getByRole('alert')
    await alert.waitFor()
    assert.equal(await alert.textContent(), 'The hub does not know this token, or it has ended.')
    await enterToken(page, await opened.makeToken('right', 'viewer'))
    await page.getByRole('heading', { level: 1, name: 'Hosts' }).waitFor()
    assert.equal(new URL(page.url()).pathname, '/console/hosts', 'where one wanted to go')
    person.assertBlameless()
  })

  test('a reload stays in', async () => {
    await using person = await opened.signIn('viewer')
    await person.page.goto('/console/hosts')
    await person.page.reload()
    await person.page.getByRole('heading', { level: 1, name: 'Hosts' }).waitFor()
    person.assertBlameless()
  })

  test('signing out ends the session in all tabs', async () => {
    await using person = await opened.signIn('viewer')
    const { page, context } = person
    await page.goto('/console/hosts')
    await settle(page)
    const second = await context.newPage()
    await second.goto('/console/hosts')
    await second.getByRole('heading', { level: 1, name: 'Hosts' }).waitFor()
    const cookies = await context.cookies()
    const half = await page.evaluate<string>(`localStorage.getItem('cartorio.session')`)
    await page.locator('.side summary.who').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You have signed out.').waitFor()
    await second.getByText('You have signed out.').waitFor()
    // What the browser had is of no use to anybody.
    await context.addCookies(cookies)
    const answer = await context.request.get('/v1/admin/sessions/own', {
      headers: { 'cartorio-session': half, 'sec-fetch-site': 'same-origin' },
    })
    assert.equal(answer.status(), 401)
    person.assertBlameless()
  })

  test('a session that ends asks over the screen, and what was typed stays', async () => {
    await using person = await opened.signIn('operator')
    const { page, tokenName } = person
    await page.goto('/console/hosts')
    await settle(page)
    const field = page.getByPlaceholder('Selector, such as env=prod')
    await field.fill('env=prod')
    await opened.hub.admin('POST', '/v1/admin/admin-tokens/revoke', { token: tokenName })
    await page.getByRole('dialog', { name: 'Sign in' }).waitFor({ timeout: 20_000 })
    await page.getByText('Your session has ended.', { exact: false }).waitFor()
    await checkAccessibility(page)
    assert.equal(await field.inputValue(), 'env=prod')
    await enterToken(page, await opened.makeToken('again', 'operator'))
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await field.inputValue(), 'env=prod')
    person.assertBlameless()
  })

  test('a link signs in once, and leaves no trace in the address', async () => {
    const { code } = await opened.hub.admin<{ code: string }>('POST', '/v1/admin/sign-in-links', {
      name: 'by-link',
      role: 'viewer',
      valid_seconds: 120,
    })
    await using person = await opened.openPerson()
    const { page } = person
    await page.goto(`/console/sign-in#code=${code}`)
    await page.locator('.side summary.who').waitFor()
    assert.equal(page.url(), `${opened.origin}/console/`)
    person.assertBlameless()
    await using another = await opened.openPerson()
    await another.page.goto(`/console/sign-in#code=${code}`)
    await another.page.getByRole('alert').waitFor()
    assert.match(
      (await another.page.getByRole('alert').textContent()) ?? '',
      /^This link was used already/,
    )
    another.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`the form has no fault for axe, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await opened.openPerson(theme)
      await person.page.goto('/console/')
      await settle(person.page)
      await checkAccessibility(person.page)
      await enterToken(person.page, 'svca_wrong')
      await person.page.getByRole('alert').waitFor()
      await checkAccessibility(person.page)
      person.assertBlameless()
    })
  }
})
