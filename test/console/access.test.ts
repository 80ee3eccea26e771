// Who has access: admin tokens that are shown once, sessions that end, and requests that were refused.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { WITH_BROWSER } from '../support/browser.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { enterToken, openConsole, type OpenConsole } from './support/open-console.ts'
import { settle, THEMES } from './support/console-browser.ts'

describe('access', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
  })
  after(() => opened[Symbol.asyncDispose]())

  test('an admin token is shown once, lets somebody in, and is revoked by its name', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/access')
    await page.getByRole('button', { name: 'New admin token' }).click()
    const dialog = page.getByRole('dialog', { name: 'New admin token' })
    await dialog.getByLabel('Name').fill('grafana')
    await dialog.getByLabel('Role').selectOption('operator')
    await dialog.getByLabel('Only hosts').fill('env=stage')
    await dialog.getByLabel('Role').selectOption('viewer')
    await dialog.getByLabel('Only hosts').fill('')
    await dialog.getByLabel('Life').fill('30d')
    await checkAccessibility(page)
    await dialog.getByRole('button', { name: 'Create' }).click()
    const once = page.getByRole('dialog', { name: 'The admin token grafana' })
    const token = (await once.locator('code').first().textContent()) ?? ''
    assert.match(token, /^svca_/)
    await checkAccessibility(page)
    await once.getByRole('button', { name: 'I have copied it' }).click()
    assert.equal(await page.getByText(token).count(), 0)
    await using other = await opened.openPerson()
    await other.page.goto('/console/access')
    await enterToken(other.page, token)
    await other.page.getByText('This one').waitFor()

    await page.getByRole('button', { name: 'Revoke the admin token grafana' }).click()
    const revoke = page.getByRole('dialog').getByRole('button', { name: 'Revoke' })
    assert.equal(await revoke.isDisabled(), true, 'before its name is typed')
    await page.getByLabel('Type grafana to go on').fill('grafana')
    await revoke.click()
    await page.getByRole('row', { name: 'grafana' }).getByText('Revoked').first().waitFor()
    await other.page.getByText('Your session has ended.', { exact: false }).waitFor()
    person.assertBlameless()
    other.assertBlameless()
  })

  test('[SES-14] a link signs in one person, once, by a token that nobody has the text of', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/access')
    await page.getByRole('button', { name: 'Sign-in link' }).click()
    const dialog = page.getByRole('dialog', { name: 'Sign-in link' })
    await dialog.getByRole('textbox', { name: /^Name/ }).fill('on-call')
    await dialog.getByLabel('Sessions end after').fill('soon')
    const button = dialog.getByRole('button', { name: 'Create' })
    assert.equal(await button.isDisabled(), true)
    await dialog.getByLabel('Sessions end after').fill('2h')
    await checkAccessibility(page)
    await button.click()
    const once = page.getByRole('dialog', { name: 'A sign-in link for on-call' })
    const link = (await once.locator('code').first().textContent()) ?? ''
    assert.ok(link.startsWith(`${opened.origin}/console/sign-in#code=svcl_`), link)
    await once.getByRole('button', { name: 'I have copied it' }).click()
    assert.equal(await page.getByText('svcl_', { exact: false }).count(), 0)
    await using other = await opened.openPerson()
    await other.page.goto(link)
    await other.page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    await page.getByRole('row', { name: 'on-call' }).first().getByText('operator').waitFor()
    person.assertBlameless()
    other.assertBlameless()
  })

  test('an admin ends the session of another', async () => {
    await using person = await opened.signIn('admin')
    await using other = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/access')
    await page.getByRole('button', { name: `End a session of ${other.tokenName}` }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await other.page.getByText('Your session has ended.', { exact: false }).waitFor()
    person.assertBlameless()
  })

  test('what was refused is there, and is text', async () => {
    await using person = await opened.signIn('admin')
    await using viewer = await opened.signIn('viewer')
    const half = await viewer.page.evaluate<string>(`localStorage.getItem('cartorio.session')`)
    const answer = await viewer.context.request.get('/v1/admin/admin-tokens', {
      headers: { 'cartorio-session': half, 'sec-fetch-site': 'same-origin' },
    })
    assert.equal(answer.status(), 403)
    const { page } = person
    await page.goto('/console/access')
    const row = page.getByRole('row', { name: `token:${viewer.tokenName}` })
    await row.getByText('listAccessTokens').waitFor()
    person.assertBlameless()
  })

  test('a viewer sees the own session alone', async () => {
    await using other = await opened.signIn('operator')
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/access')
    await page.getByText('This one').waitFor()
    assert.equal(await page.getByText('Admin tokens').count(), 0)
    assert.equal(await page.getByText(other.tokenName).count(), 0)
    person.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`axe finds no fault, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await opened.signIn('admin', theme)
      await person.page.goto('/console/access')
      await settle(person.page)
      await checkAccessibility(person.page)
      person.assertBlameless()
    })
  }
})
