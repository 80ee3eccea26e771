// Politicas: what one would mean is seen before, and two people do not overwrite each other.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { settle, THEMES } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

describe('politicas', WITH_BROWSER, () => {
  let opened: OpenConsole
  const set = (request: object): Promise<unknown> =>
    opened.hub.admin('POST', '/v1/admin/politicas', request)
  const show = (role: string): Promise<AdminReplies['showPolicy']> =>
    opened.hub.admin('POST', '/v1/admin/politicas/show', { role })
  before(async () => {
    opened = await openConsole()
    await enrollHost(opened.hub, 'web-1.example.org')
    await set({ role: 'shared', cert_ttl: 7200, untested: true })
    await set({ role: 'shown', sans_permitidos: ['<img src=x onerror=alert(1)>.example'] }).catch(
      () => set({ role: 'shown', nome: '<b>bold</b>' }),
    )
  })
  after(() => opened[Symbol.asyncDispose]())

  const review = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: 'See what it means' }).click()
    await page.getByRole('dialog', { name: 'What it means' }).waitFor()
  }
  const apply = (page: Page): Promise<void> => page.getByRole('button', { name: 'Apply' }).click()

  test('[POL-28] a new one is seen in its effect, then set', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/policies')
    await settle(page)
    await page.getByPlaceholder('Role').fill('web')
    await page.getByRole('button', { name: 'Open or make', exact: true }).click()
    await page.getByText('This role has no policy of its own yet.').waitFor()
    await page.getByLabel('Life of a certificate').fill('two hours')
    await page.getByText('This is no duration').waitFor()
    await page.getByLabel('Life of a certificate').fill('120m')
    await page.getByLabel('Set the life without a trial').check()
    await page.getByLabel('Permitted names').fill('www.example.org\n*.shop.example.org')
    await review(page)
    await page.getByText('It would hold for 1 host.').waitFor()
    await checkAccessibility(page)
    await apply(page)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const { cert_ttl, sans_permitidos } = await show('web')
    assert.deepEqual([cert_ttl, sans_permitidos], [7200, ['www.example.org', '*.shop.example.org']])
    await page.getByText('by token:admin-').first().waitFor()
    await page.locator('input[name=nome]').fill('web shop')
    await review(page)
    await apply(page)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal((await show('web')).nome, 'web shop', 'and once more, without a conflict')
    person.assertBlameless()
  })

  test('a revoked host counts neither before a policy is set nor after', async () => {
    const revoked = await enrollHost(opened.hub, 'web-2.example.org')
    await opened.hub.admin('POST', '/v1/admin/agentes/revoke', { agente: revoked.agentId })
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/policies/web')
    await page.getByRole('link', { name: '1 host', exact: true }).waitFor()
    await page.getByLabel('Life of a certificate').fill('3h')
    await page.getByLabel('Set the life without a trial').check()
    await page.getByText('It would hold for 1 host.').waitFor()
    person.assertBlameless()
  })

  test('of two browsers that change one, the second sees what is there, and loses nothing', async () => {
    await using first = await opened.signIn('admin')
    await using second = await opened.signIn('admin')
    for (const { page } of [first, second]) {
      await page.goto('/console/policies/shared')
      await page.getByLabel('Permitted names').waitFor()
    }
    await second.page.getByLabel('Permitted names').fill('second.example.org')
    await first.page.getByLabel('Permitted names').fill('first.example.org')
    await review(first.page)
    await apply(first.page)
    await first.page.getByRole('dialog').waitFor({ state: 'detached' })
    await review(second.page)
    await apply(second.page)
    const dialog = second.page.getByRole('dialog', { name: 'Somebody else changed this policy' })
    await dialog.getByText(`token:${first.tokenName} changed it at`, { exact: false }).waitFor()
    const row = dialog.getByRole('row', { name: 'Permitted names' })
    assert.deepEqual(await row.getByRole('cell').allTextContents(), [
      'any name',
      'first.example.org',
      'second.example.org',
    ])
    await checkAccessibility(second.page)
    await dialog.getByRole('button', { name: 'Back to the form' }).click()
    assert.equal(
      await second.page.getByLabel('Permitted names').inputValue(),
      'second.example.org',
      'what was typed is there',
    )
    await review(second.page)
    await apply(second.page)
    await dialog.getByRole('button', { name: 'Set what you want' }).click()
    await apply(second.page)
    await second.page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.deepEqual((await show('shared')).sans_permitidos, ['second.example.org'])
    first.assertBlameless()
    second.assertBlameless()
  })

  test('of two browsers that change other settings of one, neither undoes the other', async () => {
    await set({ role: 'merged', cert_ttl: 7200, token_ttl_max: 18_000, untested: true })
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/policies/merged')
    await page.getByLabel('Life of a certificate').fill('3h')
    await page.getByLabel('Set the life without a trial').check()
    await page.getByLabel('Permitted names').fill('mine.example.org')
    await set({ role: 'merged', token_ttl_max: 10_800, sans_permitidos: ['theirs.example.org'] })
    await review(page)
    await apply(page)
    const dialog = page.getByRole('dialog', { name: 'Somebody else changed this policy' })
    const cellsOf = (name: string): Promise<string[]> =>
      dialog.getByRole('row', { name }).getByRole('cell').allTextContents()
    await dialog.getByText('changed it at', { exact: false }).waitFor()
    assert.deepEqual(await cellsOf('Life of a certificate'), ['2h', '2h', '3h'])
    assert.deepEqual(await cellsOf('Longest life of a token'), ['5h', '3h', '3h'])
    assert.equal(await dialog.getByText('both of you changed it').count(), 1)
    await dialog
      .getByRole('row', { name: 'Permitted names' })
      .getByText('both of you changed it')
      .waitFor()
    await checkAccessibility(page)
    await dialog.getByRole('button', { name: 'Set what you want' }).click()
    await apply(page)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    const { cert_ttl, token_ttl_max, sans_permitidos } = await show('merged')
    assert.deepEqual(
      [cert_ttl, token_ttl_max, sans_permitidos],
      [10_800, 10_800, ['mine.example.org']],
    )
    person.assertBlameless()
  })

  test('of two browsers that make one, the second does not write over the first', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/policies/made-twice')
    await page.getByLabel('Permitted names').fill('second.example.org')
    await set({ role: 'made-twice', sans_permitidos: ['first.example.org'] })
    await review(page)
    await apply(page)
    const dialog = page.getByRole('dialog', { name: 'Somebody else changed this policy' })
    await dialog.getByRole('button', { name: 'Start from what is there' }).click()
    assert.equal(await page.getByLabel('Permitted names').inputValue(), 'first.example.org')
    assert.deepEqual((await show('made-twice')).sans_permitidos, ['first.example.org'])
    person.assertBlameless()
  })

  test('one with a selector is made, and removed by its name', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.goto('/console/policies/where/prod')
    await page.getByLabel('Selector').fill('env=prod')
    await page.getByLabel('Longest life of a token').fill('1h')
    await review(page)
    await page.getByText('It would hold for 0 hosts.').waitFor()
    await apply(page)
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByRole('button', { name: 'Remove' }).click()
    await page.getByLabel('Type prod to go on').fill('prod')
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByRole('heading', { level: 1, name: 'Policies' }).waitFor()
    await page.getByText('One of these narrows').waitFor()
    person.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`axe finds no fault, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await opened.signIn('admin', theme)
      for (const path of ['/policies', '/policies/shared', '/policies/where/none']) {
        await person.page.goto(`/console${path}`)
        await settle(person.page)
        await checkAccessibility(person.page)
      }
      person.assertBlameless()
    })
  }
})
