// What was typed and not sent, and secrets that are shown once: nobody loses them by going elsewhere without being asked.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Dialog, Locator, Page } from 'playwright-core'
import { WITH_BROWSER } from '../support/browser.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { settle } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

const TYPED = 'What you typed here is not sent yet. It is lost when you leave.'
const SECRET = 'Something here is shown only once. It is lost when you leave.'

describe('what is not sent', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
  })
  after(() => opened[Symbol.asyncDispose]())

  const question = (page: Page): Locator => page.getByRole('dialog', { name: 'Leave this screen?' })
  const goByLink = (page: Page, name: string): Promise<void> =>
    page.locator('.side nav').getByRole('link', { name }).click()
  const shown = (page: Page, title: string): Promise<void> =>
    page.getByRole('heading', { level: 1, name: title, exact: true }).waitFor()

  test('a policy that was changed is asked about before a link or Back leaves it', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/policies')
    await page.getByPlaceholder('Role').fill('web')
    await page.getByRole('button', { name: 'Open or make', exact: true }).click()
    const life = page.getByLabel('Life of a certificate')
    await life.fill('3h')
    await goByLink(page, 'Hosts')
    await question(page).getByText(TYPED).waitFor()
    await checkAccessibility(page)
    await question(page).getByRole('button', { name: 'Stay' }).click()
    assert.equal(await life.inputValue(), '3h')
    assert.equal(new URL(page.url()).pathname, '/console/policies/web')
    await page.evaluate('history.back()')
    await question(page).waitFor()
    await page.keyboard.press('Escape')
    await question(page).waitFor({ state: 'detached' })
    assert.equal(await life.inputValue(), '3h')
    assert.equal(new URL(page.url()).pathname, '/console/policies/web')
    await page.evaluate('history.back()')
    await question(page).getByRole('button', { name: 'Leave' }).click()
    await shown(page, 'Policies')
    assert.equal(new URL(page.url()).pathname, '/console/policies')
    await page.evaluate('history.forward()')
    await life.waitFor()
    assert.equal(await life.inputValue(), '')
    await goByLink(page, 'Hosts')
    await shown(page, 'Hosts')
    person.assertBlameless()
  })

  test('what was typed and put back, or was sent, is nothing to ask about', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/policies/sent')
    const life = page.getByLabel('Life of a certificate')
    await life.fill('3h')
    await life.fill('')
    await goByLink(page, 'Hosts')
    await shown(page, 'Hosts')
    await page.evaluate('history.back()')
    await page.getByLabel('Longest life of a token').fill('3h')
    await page.getByRole('button', { name: 'See what it means' }).click()
    await page.getByRole('button', { name: 'Apply' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await goByLink(page, 'Hosts')
    await shown(page, 'Hosts')
    person.assertBlameless()
  })

  test('a form over the screen is asked about when Back leaves it, if anything was typed', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/hosts')
    await settle(page)
    await goByLink(page, 'Enrolment')
    await page.getByRole('button', { name: 'New token' }).click()
    await page.evaluate('history.back()')
    await shown(page, 'Hosts')
    await goByLink(page, 'Enrolment')
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByLabel('Hostnames').fill('web-1.example.org')
    await page.evaluate('history.back()')
    await question(page).getByText(TYPED).waitFor()
    await question(page).getByRole('button', { name: 'Stay' }).click()
    assert.equal(await page.getByLabel('Hostnames').inputValue(), 'web-1.example.org')
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.evaluate('history.back()')
    await shown(page, 'Hosts')
    person.assertBlameless()
  })

  test('tokens that nobody said to have copied are asked about', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/enrolment')
    await page.getByRole('button', { name: 'New token' }).click()
    await page.getByLabel('Hostnames').fill('web-1.example.org')
    await page.getByRole('dialog').getByLabel('Role').fill('web')
    await page.getByRole('button', { name: 'Create' }).click()
    await page.locator('.made').waitFor()
    await goByLink(page, 'Hosts')
    await question(page).getByText(SECRET).waitFor()
    await question(page).getByRole('button', { name: 'Stay' }).click()
    await page.locator('.made').waitFor()
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog', { name: 'Find' }).locator('input').fill('Deliveries')
    await page.keyboard.press('Enter')
    await question(page).getByRole('button', { name: 'Stay' }).click()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    await goByLink(page, 'Hosts')
    await shown(page, 'Hosts')
    person.assertBlameless()
  })

  test('the browser asks before it closes or loads the page again, and not without a reason', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    const asked: string[] = []
    page.on('dialog', (dialog: Dialog) => {
      asked.push(dialog.type())
      void (asked.length === 1 ? dialog.dismiss() : dialog.accept())
    })
    await page.goto('/console/policies/unloaded')
    await page.getByLabel('Life of a certificate').click()
    await page.reload()
    assert.deepEqual(asked, [])
    const life = page.getByLabel('Life of a certificate')
    await life.fill('3h')
    await life.press('Tab')
    const dialog = page.waitForEvent('dialog')
    await page.evaluate('void setTimeout(() => location.reload())')
    await dialog
    assert.equal(await life.inputValue(), '3h')
    assert.deepEqual(asked, ['beforeunload'])
    person.assertBlameless()
  })

  test('who signs out is asked too', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/policies/left')
    await page.getByLabel('Life of a certificate').fill('3h')
    await page.locator('.side summary.who').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await question(page).getByText(TYPED).waitFor()
    await question(page).getByRole('button', { name: 'Leave' }).click()
    await page.getByText('You have signed out.').waitFor()
    person.assertBlameless()
  })
})
