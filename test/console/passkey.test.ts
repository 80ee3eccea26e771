// Acts that a passkey confirms, in a browser with an authenticator of its own: asked, confirmed, left, and without a passkey.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { CDPSession, Locator, Page } from 'playwright-core'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { findFreePort } from '../support/free-port.ts'
import { checkThrough } from './support/check-accessibility.ts'
import { THEMES } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

/** A person in front of it touches it, or does not. */
async function addAuthenticator(page: Page): Promise<{
  readonly refuse: (isRefusing: boolean) => Promise<void>
  readonly checkAccessibility: () => Promise<void>
}> {
  const debug: CDPSession = await page.context().newCDPSession(page)
  await debug.send('WebAuthn.enable')
  const { authenticatorId } = await debug.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  })
  const refuse = async (isRefusing: boolean): Promise<void> => {
    await debug.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified: !isRefusing })
  }
  return { refuse, checkAccessibility: () => checkThrough(debug, page) }
}

async function register(page: Page, label: string): Promise<void> {
  await page.goto('/console/access')
  await page.getByRole('button', { name: 'Register a passkey' }).click()
  const dialog = page.getByRole('dialog', { name: 'Register a passkey' })
  await dialog.getByLabel('Passkey').fill(label)
  await dialog.getByRole('button', { name: 'Register a passkey' }).click()
  await page.getByRole('row', { name: label }).waitFor()
}

describe('passkeys', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    const port = await findFreePort()
    opened = await openConsole({
      SVC_ADMIN_BIND: `127.0.0.1:${port}`,
      SVC_CONSOLE_CONFIRM: 'passkey',
      SVC_CONSOLE_URL: `https://localhost:${port}/console`,
    })
  })
  after(() => opened[Symbol.asyncDispose]())

  const entriesOf = async (tipo: string) => {
    const { eventos } = await opened.hub.admin<AdminReplies['listEntries']>(
      'POST',
      '/v1/admin/eventos/list',
      { tipos: [tipo], last: 50 },
    )
    return eventos.map(({ payload }) => payload)
  }

  test('[PKY-12] a passkey is registered and confirms by the keyboard what was asked, and the log says so', async () => {
    await using person = await opened.signIn('admin', { isTrusted: true })
    const { page } = person
    const { checkAccessibility } = await addAuthenticator(page)
    await register(page, 'laptop')
    await page.getByRole('button', { name: 'Register a passkey' }).click()
    await checkAccessibility()
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'New admin token' }).click()
    const form = page.getByRole('dialog', { name: 'New admin token' })
    await form.getByLabel('Name').fill('grafana')
    await form.getByRole('button', { name: 'Create' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm with a passkey' })
    await dialog.getByText('Make the admin token grafana with the role viewer').waitFor()
    await checkAccessibility()
    // The button has the focus.
    await page.keyboard.press('Enter')
    const once = page.getByRole('dialog', { name: 'The admin token grafana' })
    assert.match((await once.locator('code').first().textContent()) ?? '', /^svca_/)
    await once.getByRole('button', { name: 'I have copied it' }).click()
    const made = (await entriesOf('admin_token_created')).find(({ name }) => name === 'grafana')
    const [registered] = await entriesOf('passkey_registered')
    assert.equal(made?.['confirmed_by'], registered?.['passkey_id'])
    assert.match(String(made?.['confirmed_by']), /^[0-9a-f]{16}$/)
    person.assertBlameless()
  })

  test('[PKY-12] who leaves the question has done nothing, and finds the form as it was', async () => {
    await using person = await opened.signIn('admin', { isTrusted: true })
    const { page } = person
    const { refuse, checkAccessibility } = await addAuthenticator(page)
    await register(page, 'laptop')
    await page.getByRole('button', { name: 'New admin token' }).click()
    const form = page.getByRole('dialog', { name: 'New admin token' })
    await form.getByLabel('Name').fill('kept')
    await form.getByRole('button', { name: 'Create' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm with a passkey' })
    await refuse(true)
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await dialog.getByText('No passkey answered').waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    await form.getByText('Nothing was done').waitFor()
    await checkAccessibility()
    assert.equal(await form.getByLabel('Name').inputValue(), 'kept')
    assert.ok(!(await entriesOf('admin_token_created')).some(({ name }) => name === 'kept'))
    await refuse(false)
    await form.getByRole('button', { name: 'Create' }).click()
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('dialog', { name: 'The admin token kept' }).waitFor()
    person.assertBlameless()
  })

  test('[PKY-12] who has no passkey is told where to register one', async () => {
    await using person = await opened.signIn('admin', { isTrusted: true })
    const { page } = person
    const { checkAccessibility } = await addAuthenticator(page)
    await page.goto('/console/access')
    await page.getByText('None yet.', { exact: false }).waitFor()
    await page.getByRole('button', { name: 'New admin token' }).click()
    const form = page.getByRole('dialog', { name: 'New admin token' })
    await form.getByLabel('Name').fill('nobody')
    await form.getByRole('button', { name: 'Create' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm with a passkey' })
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await dialog.getByText('You have no passkey yet').waitFor()
    await checkAccessibility()
    await dialog.getByRole('link', { name: 'To your passkeys' }).click()
    await dialog.waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: 'Your passkeys' }).waitFor()
    person.assertBlameless()
  })

  test('[PKY-12] the question says for whom a sign-in link is', async () => {
    await using person = await opened.signIn('admin', { isTrusted: true })
    const { page } = person
    await addAuthenticator(page)
    await page.goto('/console/access')
    await page.getByRole('button', { name: 'Sign-in link' }).click()
    const form = page.getByRole('dialog', { name: 'Sign-in link' })
    await form.getByRole('textbox', { name: /^Name/ }).fill('eve')
    await form.getByRole('button', { name: 'Create' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm with a passkey' })
    await dialog.getByText('Make a sign-in link for eve with the role operator').waitFor()
    await page.keyboard.press('Escape')
    await form.getByLabel('Signs in as').selectOption('')
    await form.getByRole('button', { name: 'Create' }).click()
    await dialog.getByText('Make a sign-in link for the admin token eve').waitFor()
    person.assertBlameless()
  })

  test('[PKY-2] [PKY-12] other ways in, and the log’s way out, are confirmed; who leaves the question finds the form', async () => {
    await using person = await opened.signIn('admin', { isTrusted: true })
    const { page } = person
    const { checkAccessibility } = await addAuthenticator(page)
    await register(page, 'laptop')
    const dialog = page.getByRole('dialog', { name: 'Confirm with a passkey' })
    const leave = async (about: string, form: Locator): Promise<void> => {
      await form.getByRole('button', { name: 'Create' }).click()
      await dialog.getByText(about, { exact: true }).waitFor()
      await checkAccessibility()
      await page.keyboard.press('Escape')
      await form.getByText('Nothing was done').waitFor()
    }
    const confirm = async (form: Locator): Promise<void> => {
      await form.getByRole('button', { name: 'Create' }).click()
      await dialog.getByRole('button', { name: 'Confirm' }).click()
      await form.waitFor({ state: 'detached' })
    }

    await page.goto('/console/enrolment')
    await page.getByRole('button', { name: 'New token' }).click()
    const token = page.getByRole('dialog', { name: 'New token' })
    await token.getByLabel('Hostnames').fill('db-1.example.org')
    await token.getByLabel('Role').fill('db')
    await token.getByRole('checkbox', { name: 'Also for a host that is enrolled already' }).check()
    await leave('Make a token that enrols db-1.example.org again, with the role db', token)
    assert.equal(await token.getByLabel('Hostnames').inputValue(), 'db-1.example.org')
    assert.deepEqual(await entriesOf('token_created'), [])
    await confirm(token)
    await page.locator('.made', { hasText: 'db-1.example.org' }).waitFor()
    await page.getByRole('button', { name: 'I have copied it' }).click()
    // A token for a host that is new is everyday work.
    await page.getByRole('button', { name: 'New token' }).click()
    await token.getByLabel('Hostnames').fill('db-2.example.org')
    await token.getByLabel('Role').fill('db')
    await token.getByRole('button', { name: 'Create' }).click()
    await page.locator('.made', { hasText: 'db-2.example.org' }).waitFor()
    await page.getByRole('button', { name: 'I have copied it' }).click()

    await page.getByRole('button', { name: 'New rule' }).click()
    const rule = page.getByRole('dialog', { name: 'New rule' })
    await rule.getByRole('textbox', { name: /^Name(?!s)/ }).fill('racks')
    await rule.getByLabel('Names of hosts').fill('rack-*.example.org')
    await rule.getByLabel('Role').fill('web')
    await leave('Make the join rule racks: it enrols rack-*.example.org with the role web', rule)
    assert.equal(await rule.getByLabel('Names of hosts').inputValue(), 'rack-*.example.org')
    await confirm(rule)
    await page.getByText('The rule racks is made').waitFor()

    await page.goto('/console/webhooks')
    await page.getByRole('button', { name: 'New webhook' }).click()
    const webhook = page.getByRole('dialog', { name: 'New webhook' })
    await webhook.getByLabel('URL').fill('https://siem.example.org/in')
    await leave(
      'Make a webhook that sends entries of the log to https://siem.example.org/in',
      webhook,
    )
    assert.equal(await webhook.getByLabel('URL').inputValue(), 'https://siem.example.org/in')
    await confirm(webhook)
    await page.getByRole('dialog', { name: 'The webhook is made' }).waitFor()

    const [again, plain, ...others] = (await entriesOf('token_created')).toSorted((a, b) =>
      String(a['hostname']).localeCompare(String(b['hostname'])),
    )
    assert.deepEqual(others, [])
    assert.match(String(again?.['confirmed_by']), /^[0-9a-f]{16}$/)
    assert.equal(plain?.['confirmed_by'], undefined)
    for (const tipo of ['join_rule_created', 'webhook_created']) {
      const [made, ...more] = await entriesOf(tipo)
      assert.deepEqual(more, [])
      assert.equal(made?.['confirmed_by'], again?.['confirmed_by'])
    }
    person.assertBlameless()
  })

  test('[PKY-12] the question says that hosts are lost by a set of roots that is forced', async () => {
    await using person = await opened.signIn('admin', { isTrusted: true })
    const { page } = person
    await addAuthenticator(page)
    await page.goto('/console/roots')
    await page.getByRole('button', { name: 'Read the root file again' }).click()
    const form = page.getByRole('dialog', { name: 'Read the root file again' })
    await form.getByRole('button', { name: 'Put in force' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm with a passkey' })
    await dialog.getByText('Put the root file in force', { exact: true }).waitFor()
    await page.keyboard.press('Escape')
    await form.getByRole('checkbox').check()
    await form.getByRole('button', { name: 'Put in force' }).click()
    await dialog
      .getByText('Put the root file in force, and lose the hosts that need a root that goes')
      .waitFor()
    person.assertBlameless()
  })

  test('[PKY-12] the question goes with the session that asked, and the form stays', async () => {
    await using person = await opened.signIn('admin', { isTrusted: true })
    const { page, tokenName } = person
    await addAuthenticator(page)
    await page.goto('/console/access')
    await page.getByRole('button', { name: 'New admin token' }).click()
    const form = page.getByRole('dialog', { name: 'New admin token' })
    await form.getByLabel('Name').fill('late')
    await form.getByRole('button', { name: 'Create' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm with a passkey' })
    await dialog.waitFor()
    const { sessions } = await opened.hub.admin<AdminReplies['listSessions']>(
      'GET',
      '/v1/admin/sessions',
    )
    const open = sessions.filter(({ name }) => name === tokenName)
    for (const { id } of open) {
      await opened.hub.admin('POST', '/v1/admin/sessions/end', { session: id })
    }
    await page.getByRole('dialog', { name: 'Sign in' }).waitFor()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await form.getByLabel('Name').inputValue(), 'late')
  })

  test('[PKY-10] a second passkey and the removal of the first are confirmed', async () => {
    await using person = await opened.signIn('admin', { isTrusted: true })
    const { page } = person
    await addAuthenticator(page)
    await register(page, 'first')
    await page.getByRole('button', { name: 'Remove the passkey first' }).click()
    const act = page.getByRole('dialog', { name: 'Remove the passkey first' })
    await act.getByRole('button', { name: 'Remove' }).click()
    const dialog = page.getByRole('dialog', { name: 'Confirm with a passkey' })
    await dialog.getByText('Remove the passkey first').waitFor()
    await dialog.getByRole('button', { name: 'Confirm' }).click()
    await page.getByText('None yet.', { exact: false }).waitFor()
    person.assertBlameless()
  })

  for (const { theme, widthPx } of THEMES) {
    test(`[PKY-12] axe finds no fault, ${theme} at ${widthPx}`, async () => {
      await using person = await opened.signIn('admin', { theme, widthPx, isTrusted: true })
      const { page } = person
      const { checkAccessibility } = await addAuthenticator(page)
      await register(page, 'laptop')
      await checkAccessibility()
      await page.getByRole('button', { name: 'Remove the passkey laptop' }).click()
      const act = page.getByRole('dialog', { name: 'Remove the passkey laptop' })
      await act.getByRole('button', { name: 'Remove' }).click()
      await page.getByRole('dialog', { name: 'Confirm with a passkey' }).waitFor()
      await checkAccessibility()
      person.assertBlameless()
    })
  }
})
