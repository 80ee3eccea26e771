// How hosts come in: tokens that are shown once and become “enrolled” by themselves, and join rules.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { enrollHost } from '../support/enrolled-host.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { settle, THEMES } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

describe('enrolment', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
  })
  after(() => opened[Symbol.asyncDispose]())

  test('a token is shown once, and becomes enrolled by itself', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/enrolment')
    await page.getByRole('button', { name: 'New token' }).click()
    const dialog = page.getByRole('dialog', { name: 'New token' })
    await dialog.getByLabel('Hostnames').fill('new-1.example.org\nnew-2.example.org')
    await dialog.getByLabel('Role').fill('web')
    await dialog.getByLabel('Life').fill('for ever')
    await dialog.getByText('This is no duration').waitFor()
    await dialog.getByLabel('Life').fill('30m')
    await dialog.getByLabel('Labels').fill('env=prod')
    await checkAccessibility(page)
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.waitFor({ state: 'detached' })
    const made = page.locator('.made', { hasText: 'new-1.example.org' })
    await made.getByText('Waits for the host').waitFor()
    await checkAccessibility(page)
    const texts = await made.locator('code').allTextContents()
    const token = texts.find((text) => /^svct_\S+$/.test(text)) ?? assert.fail(texts.join(' '))
    await enrollHost(
      { ...opened.hub, createToken: () => Promise.resolve(token) },
      'new-1.example.org',
    )
    await made.getByText('Enrolled').waitFor()
    await made.getByText('systemctl enable --now svc-agent').waitFor()
    assert.equal(await made.getByText(token).count(), 0)
    await page.locator('.made', { hasText: 'new-2' }).getByText('Waits for the host').waitFor()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    assert.equal(await page.locator('.made').count(), 0)
    await page.reload()
    await settle(page)
    assert.doesNotMatch((await page.textContent('body')) ?? '', /svct_[A-Za-z0-9_-]{8}/)
    person.assertBlameless()
  })

  test('a token that was refused leaves its hostnames in the form', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/enrolment')
    await page.getByRole('button', { name: 'New token' }).click()
    const dialog = page.getByRole('dialog', { name: 'New token' })
    await dialog.getByLabel('Hostnames').fill('good.example.org\nNot-A-Name!')
    await dialog.getByLabel('Role').fill('web')
    await dialog.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('hostname_invalid').waitFor()
    assert.equal(await dialog.getByLabel('Hostnames').inputValue(), 'Not-A-Name!')
    await dialog.getByLabel('Hostnames').fill('a-name.example.org')
    await dialog.getByText('hostname_invalid').waitFor({ state: 'detached' })
    person.assertBlameless()
  })

  test('a line with a space is no hostname, and makes no token', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/enrolment')
    await page.getByRole('button', { name: 'New token' }).click()
    const dialog = page.getByRole('dialog', { name: 'New token' })
    await dialog.getByLabel('Hostnames').fill('one.example.org\nspaced 02!!.demo')
    await dialog.getByLabel('Role').fill('web')
    await dialog.getByText('spaced 02!!.demo is not one name: write one a line.').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Create' }).isDisabled(), true)
    const { tokens } = await opened.hub.admin<AdminReplies['listTokens']>('GET', '/v1/admin/tokens')
    assert.equal(tokens.filter(({ hostname }) => hostname.startsWith('spaced')).length, 0)
    person.assertBlameless()
  })

  test('an open token is revoked', async () => {
    await opened.hub.admin('POST', '/v1/admin/tokens', {
      hostname: 'gone.example.org',
      role: 'web',
    })
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/enrolment')
    await page.getByRole('button', { name: 'Revoke the token of gone.example.org' }).click()
    await page.getByText('token_revoked').waitFor()
    await page.getByRole('dialog').getByRole('button', { name: 'Revoke' }).click()
    const row = page.getByRole('row', { name: 'gone.example.org' })
    await row.getByText('Ended').waitFor()
    person.assertBlameless()
  })

  test('join rules are made by token and by jwt, shown, and ended', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/enrolment')
    await page.getByRole('button', { name: 'New rule' }).click()
    const dialog = page.getByRole('dialog', { name: 'New rule' })
    await dialog.getByLabel('How a host shows').selectOption('others')
    await dialog.getByText('--known-hosts', { exact: false }).waitFor()
    await dialog.getByLabel('How a host shows').selectOption('token')
    await dialog.getByLabel('Name', { exact: false }).first().fill('racks')
    await dialog.getByLabel('Names of hosts').fill('rack-*.example.org')
    await dialog.getByLabel('Role').fill('web')
    await checkAccessibility(page)
    await dialog.getByRole('button', { name: 'Create' }).click()
    const once = page.getByRole('dialog', { name: 'The rule racks is made' })
    await once.getByText(/^svcj_/).waitFor()
    await once.getByRole('button', { name: 'I have copied it' }).click()

    await page.getByRole('button', { name: 'New rule' }).click()
    await dialog.getByLabel('How a host shows').selectOption('jwt')
    await dialog.getByLabel('Name', { exact: false }).first().fill('pods')
    await dialog.getByLabel('Names of hosts').fill('pod-*.example.org')
    await dialog.getByLabel('Role').fill('web')
    await dialog.getByLabel(/^Issuer/).fill('https://issuer.example')
    await dialog.getByLabel('Audience').fill('cartorio')
    await dialog.getByLabel('What its tokens').fill('sub=repo:example/app')
    await dialog.getByRole('button', { name: 'Create' }).click()
    const made = page.getByRole('dialog', { name: 'The rule pods is made' })
    await made.getByRole('button').last().click()
    await page.getByRole('link', { name: 'racks' }).click()
    await page.getByText('No host has joined by this rule yet.').waitFor()
    await checkAccessibility(page)
    await page.getByRole('button', { name: 'End the rule' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'End the rule' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.getByText('Ended').first().waitFor()
    const { join_rules: rules } = await opened.hub.admin<AdminReplies['listJoinRules']>(
      'GET',
      '/v1/admin/join-rules',
    )
    assert.deepEqual(
      rules.map(({ name, method, state }) => [name, method, state]),
      [
        ['pods', 'jwt', 'open'],
        ['racks', 'token', 'ended'],
      ],
    )
    person.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`axe finds no fault, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await opened.signIn('operator', theme)
      await person.page.goto('/console/enrolment')
      await settle(person.page)
      await checkAccessibility(person.page)
      person.assertBlameless()
    })
  }
})
