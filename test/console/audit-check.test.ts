// A log that somebody changed who has the keys of the vault: Chromium says so, with a real hub that does not.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { applyMutation, type Mutation } from '../../reliability/support/log-mutations/mutations.ts'
import { unsealVault } from '../../src/hub/vault/vault.ts'
import { Secret } from '../../src/platform/secret.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { findFreePort } from '../support/free-port.ts'
import { PASSPHRASE, type TestHub } from '../support/hub.ts'
import { waitUntil } from '../support/processes.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

const TOKENS = 20
const CHANGED = 7
const VERDICT_MS_MAX = 30_000

/** The same address before and after: what a browser keeps belongs to it. */
async function openWithTokens(): Promise<OpenConsole> {
  const opened = await openConsole({ SVC_ADMIN_BIND: `127.0.0.1:${await findFreePort()}` })
  for (let number = 0; number < TOKENS; number += 1) {
    await opened.hub.createToken({ hostname: `web-${number}.example.org` })
  }
  // What is not signed yet may be changed by whoever has the keys, and is signed then.
  await waitUntil('the hub signs', async () => {
    const { entries } = await opened.hub.admin<{ entries: number }>('GET', '/v1/admin/checkpoint')
    return entries >= TOKENS || undefined
  })
  return opened
}

async function change(
  hub: TestHub,
  mutation: Pick<Mutation, 'sql' | 'isMadeAgain'>,
): Promise<void> {
  await hub.stop()
  const vault = await unsealVault(hub.vaultRoot, new Secret(PASSPHRASE))
  applyMutation(vault, { name: 'by hand', table: 'eventos', ...mutation })
  await hub.start()
}

const ONE_BYTE = `UPDATE eventos SET payload = replace(payload, 'web-', 'wab-') WHERE seq = ${CHANGED}`

async function waitForVerdict(page: Page, verdict: RegExp): Promise<void> {
  const heading = page.locator('#log-verdict', { hasText: verdict })
  await heading.waitFor({ timeout: VERDICT_MS_MAX }).catch(async (error: unknown) => {
    const said = await page.locator('main').innerText()
    throw new Error(`the page says: ${said.slice(0, 1000)}`, { cause: error })
  })
}

describe('[ADT-3] [ADT-4] a log that was changed', WITH_BROWSER, () => {
  test('one byte of a payload: its entry is named, to who comes for the first time and to who checks all again', async () => {
    await using opened = await openWithTokens()
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/audit')
    await waitForVerdict(page, /^No break in/)
    await page.goto('about:blank')
    await change(opened.hub, { sql: ONE_BYTE, isMadeAgain: false })
    await page.goto('/console/audit')
    // The anchor is younger than what was changed, and says nothing of it.
    await waitForVerdict(page, /^No break in/)
    await page.getByText('It does not show that older payloads').waitFor()
    await page.getByRole('button', { name: 'Check all again' }).click()
    await waitForVerdict(page, new RegExp(`^Entry ${CHANGED} was changed$`))
    await checkAccessibility(page)
    await page.getByRole('link', { name: 'Show the entry' }).click()
    const panel = page.getByRole('complementary', { name: `Entry ${CHANGED}` })
    await panel.getByText('computed here, another one').waitFor()
    person.assertBlameless()

    await using other = await opened.signIn('viewer')
    await other.page.goto('/console/audit')
    await waitForVerdict(other.page, new RegExp(`^Entry ${CHANGED} was changed$`))
    other.assertBlameless()
  })

  test('rewritten whole, signed and all: only the anchor knows', async () => {
    await using opened = await openWithTokens()
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/audit')
    await waitForVerdict(page, /^No break in/)
    await page.goto('about:blank')
    await change(opened.hub, { sql: ONE_BYTE, isMadeAgain: true })
    await page.goto('/console/audit')
    await waitForVerdict(page, /^The log was rewritten: the anchor of .* is not in it$/)
    await checkAccessibility(page)
    person.assertBlameless()

    await using other = await opened.signIn('viewer')
    await other.page.goto('/console/audit')
    await waitForVerdict(other.page, /^No break in/)
    other.assertBlameless()

    await page.getByRole('button', { name: 'Drop the anchor, check all' }).click()
    await waitForVerdict(page, /^No break in/)
    person.assertBlameless()
  })

  test('another type of an entry, which no hash of the chain covers: the tree knows', async () => {
    await using opened = await openWithTokens()
    await change(opened.hub, {
      sql: `UPDATE eventos SET tipo_evento = 'token_revoked' WHERE seq = ${CHANGED}`,
      isMadeAgain: false,
    })
    await using person = await opened.signIn('viewer')
    await person.page.goto('/console/audit')
    await waitForVerdict(person.page, /^The log is not the one that its checkpoint was signed for$/)
    person.assertBlameless()
  })

  test('signed with another key than the anchor was', async () => {
    await using opened = await openWithTokens()
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/audit')
    await waitForVerdict(page, /^No break in/)
    await page.evaluate<undefined>(`{
      const anchor = JSON.parse(localStorage.getItem('cartorio.anchor'))
      localStorage.setItem('cartorio.anchor', JSON.stringify({ ...anchor, key: 'cartorio/other+00000000+AA==' }))
    }; undefined`)
    await page.reload()
    await waitForVerdict(page, /^The hub's key changed$/)
    assert.match(await page.locator('.keys').innerText(), /cartorio\/other\+00000000/)
    person.assertBlameless()
  })
})
