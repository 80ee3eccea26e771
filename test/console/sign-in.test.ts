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

  test('who signs in next over the screen has its forms, and no secret of the one before', async () => {
    await using person = await opened.signIn('admin')
    const { page, tokenName } = person
    const signInAnew = async (revoked: string, name: string): Promise<void> => {
      await opened.hub.admin('POST', '/v1/admin/admin-tokens/revoke', { token: revoked })
      await page.getByText('what you typed is still there', { exact: false }).waitFor()
      await enterToken(page, await opened.makeToken(name, 'admin'))
      await page.getByRole('dialog', { name: 'Sign in' }).waitFor({ state: 'detached' })
      await page.locator('.side summary.who b', { hasText: name }).waitFor()
    }
    await page.goto('/console/policies/kept')
    await page.getByLabel('Life of a certificate').fill('3h')
    await signInAnew(tokenName, 'next-1')
    assert.equal(await page.getByLabel('Life of a certificate').inputValue(), '3h')
    await page.getByRole('button', { name: 'See what it means' }).click()
    await page.getByText('It would hold for 0 hosts.').waitFor()

    await page.goto('/console/webhooks')
    await page.getByRole('button', { name: 'New webhook' }).click()
    const dialog = page.getByRole('dialog', { name: 'New webhook' })
    await dialog.getByLabel('Form').selectOption('mail')
    const url = dialog.getByRole('textbox').first()
    await url.fill('smtps://user@mail.example.org/?from=hub@example.org&to=oncall@example.org')
    await dialog.locator('input[type=password]').fill('of the one before')
    await signInAnew('next-1', 'next-2')
    assert.match(await url.inputValue(), /^smtps:/)
    assert.equal(await dialog.locator('input[type=password]').inputValue(), '')
    await dialog.getByRole('button', { name: 'Cancel' }).click()

    await page.goto('/console/enrolment')
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByLabel('Hostnames').fill('kept.example.org')
    await page.getByRole('dialog').getByLabel('Role').fill('web')
    await signInAnew('next-2', 'next-3')
    assert.equal(await page.getByLabel('Hostnames').inputValue(), 'kept.example.org')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.locator('.made').waitFor()
    await signInAnew('next-3', 'next-4')
    await page.getByRole('row', { name: 'kept.example.org' }).waitFor()
    assert.equal(
      await page.locator('.made').count(),
      0,
      'a secret that was shown to the one before',
    )
    person.assertBlameless()
  })

  test('where nothing was typed, nothing is said to be there still', async () => {
    await using person = await opened.signIn('viewer')
    const { page, tokenName } = person
    await page.goto('/console/assets/none')
    await opened.hub.admin('POST', '/v1/admin/admin-tokens/revoke', { token: tokenName })
    await page.goto('/console/hosts')
    await page.getByText('Your session has ended. Sign in again.', { exact: true }).waitFor()
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
