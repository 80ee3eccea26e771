// Sign-in by an OpenID provider, in Chromium, with a real provider at another site and a real hub: docs/protocol.md OID.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { WITH_BROWSER } from '../support/browser.ts'
import { findFreePort } from '../support/free-port.ts'
import { type RunningProvider, startOpenidProvider } from '../support/openid-provider.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { settle } from './support/console-browser.ts'
import { openConsole, type OpenConsole, type Person } from './support/open-console.ts'

const BUTTON = 'Sign in with Example SSO'

describe('signing in by an OpenID provider', WITH_BROWSER, () => {
  let opened: OpenConsole
  let provider: RunningProvider
  let directory: string
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'oidc-'))
    const port = await findFreePort()
    const consoleUrl = `https://localhost:${port}/console`
    provider = await startOpenidProvider({
      host: '127.0.0.1',
      redirectUris: [`${consoleUrl}/sign-in`],
    })
    Object.assign(provider.accounts, {
      'id-alice': { email: 'alice@example.org', groups: ['admins'] },
      'id-bob': { email: 'bob@example.org', groups: ['staff'] },
      'id-carol': { email: 'carol@example.org', groups: ['visitors'] },
    })
    const caPath = join(directory, 'ca.pem')
    await writeFile(caPath, provider.rootPem)
    opened = await openConsole({
      SVC_ADMIN_BIND: `127.0.0.1:${port}`,
      SVC_CONSOLE_URL: consoleUrl,
      SVC_OIDC_ISSUER: provider.issuer,
      SVC_OIDC_CLIENT_ID: provider.clientId,
      SVC_OIDC_CLIENT_SECRET: provider.clientSecret,
      SVC_OIDC_CA_PATH: caPath,
      SVC_OIDC_NAME: 'Example SSO',
      SVC_OIDC_ROLES: 'admin=admins;viewer=staff',
    })
  })
  after(async () => {
    await opened[Symbol.asyncDispose]()
    await provider[Symbol.asyncDispose]()
    await rm(directory, { recursive: true })
  })

  /** As the account of this subject, at the provider's page. */
  async function chooseAccount(page: Page, account: string): Promise<void> {
    await page.getByRole('heading', { name: 'Who is it?' }).waitFor()
    await page.getByRole('link', { name: account }).click()
  }

  /** Nothing but what it asked of the provider by going there. */
  function assertBlameless({ misdeeds }: Person): void {
    const strange = misdeeds.foreignRequests.filter((url) => !url.startsWith(provider.issuer))
    assert.deepEqual([misdeeds.reports, strange, misdeeds.errors], [[], [], []])
  }

  test('[OID-3] [OID-4] a person is in where it wanted to go, with the role of its group', async () => {
    await using person = await opened.openPerson()
    const { page } = person
    await page.goto('/console/hosts?state=late')
    await page.getByRole('button', { name: BUTTON }).waitFor()
    await checkAccessibility(page)
    await page.getByRole('button', { name: BUTTON }).click()
    await chooseAccount(page, 'id-bob')
    await page.locator('.side summary.who').waitFor()
    assert.equal(page.url(), `${opened.origin}/console/hosts?state=late`)
    assert.match((await page.locator('.side summary.who').textContent()) ?? '', /bob@example\.org/)
    const { name, role } = await ownSession(page)
    assert.deepEqual([name, role], ['bob@example.org', 'viewer'])
    // Neither code nor state stayed anywhere.
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
    await page.goBack()
    assert.doesNotMatch(page.url(), /code=|state=/)
    assertBlameless(person)
  })

  test('[OID-8] a person of no group is told so by name, and not which group would do', async () => {
    await using person = await opened.openPerson()
    const { page } = person
    await page.goto('/console/')
    await page.getByRole('button', { name: BUTTON }).click()
    await chooseAccount(page, 'id-carol')
    const alert = page.getByRole('alert')
    await alert.waitFor()
    assert.equal(
      await alert.textContent(),
      'You are carol@example.org at the provider, and carol@example.org has no role at this hub. Ask an admin of the hub for one.',
    )
    assert.equal(page.url(), `${opened.origin}/console/sign-in`)
    await checkAccessibility(page)
    // And can be somebody else, once the provider has forgotten who it was.
    await person.context.clearCookies({ domain: '127.0.0.1' })
    await page.getByRole('button', { name: BUTTON }).click()
    await chooseAccount(page, 'id-alice')
    await page.locator('.side summary.who').waitFor()
    assert.equal((await ownSession(page)).role, 'admin')
    assertBlameless(person)
  })

  test('who cancels at the provider can begin again', async () => {
    await using person = await opened.openPerson()
    const { page } = person
    await page.goto('/console/')
    await page.getByRole('button', { name: BUTTON }).click()
    await chooseAccount(page, 'Cancel')
    const alert = page.getByRole('alert')
    await alert.waitFor()
    assert.equal(
      await alert.textContent(),
      'The provider did not sign you in (access_denied). Try again, or use an admin token.',
    )
    assertBlameless(person)
  })

  test('[OID-4] an answer that another browser began signs nobody in, whatever it says', async () => {
    await using person = await opened.openPerson()
    const { page } = person
    for (const query of ['code=x&state=y', 'error=call_0800_evil&state=y']) {
      await page.goto(`/console/sign-in?${query}`)
      const alert = page.getByRole('alert')
      await alert.waitFor()
      assert.match((await alert.textContent()) ?? '', /^This sign-in did not begin in this tab/)
      assert.equal(page.url(), `${opened.origin}/console/sign-in`)
    }
    assertBlameless(person)
  })

  test('a link that asks to go on to the provider says nothing to who is in, also after signing out', async () => {
    await using person = await opened.openPerson()
    const { page } = person
    await page.goto('/console/hosts')
    await page.getByRole('button', { name: BUTTON }).click()
    await chooseAccount(page, 'id-bob')
    await page.locator('.side summary.who').waitFor()
    await page.goto('/console/sign-in?again=1')
    await page.locator('.side summary.who').click()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByRole('button', { name: BUTTON }).waitFor()
    await settle(page)
    assert.equal(await page.locator('.side summary.who').count(), 0)
    assert.equal(await page.evaluate('sessionStorage.length'), 0)
    assertBlameless(person)
  })

  test('[OID-7] a person whose token ends signs in again beside what was typed', async () => {
    await using person = await opened.openPerson()
    const { page, context } = person
    await page.goto('/console/hosts')
    await page.getByRole('button', { name: BUTTON }).click()
    await chooseAccount(page, 'id-alice')
    await settle(page)
    const field = page.getByPlaceholder('Selector, such as env=prod')
    await field.fill('env=prod')
    await opened.hub.admin('POST', '/v1/admin/admin-tokens/revoke', { token: 'alice@example.org' })
    await page.getByRole('dialog', { name: 'Sign in' }).waitFor({ timeout: 20_000 })
    await page.getByRole('link', { name: BUTTON }).waitFor()
    await checkAccessibility(page)
    const [second] = await Promise.all([
      context.waitForEvent('page'),
      page.getByRole('link', { name: BUTTON }).click(),
    ])
    // The provider knows the person still, and asks nothing.
    await second.locator('.side summary.who').waitFor()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    assert.equal(await field.inputValue(), 'env=prod')
    assertBlameless(person)
  })
})

function ownSession(page: Page): Promise<{ name: string; role: string }> {
  return page.evaluate<{ name: string; role: string }>(`
    fetch('/v1/admin/sessions/own', {
      headers: { 'cartorio-session': localStorage.getItem('cartorio.session') },
    }).then((response) => response.json())
  `)
}
