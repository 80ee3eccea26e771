// The console that svc serves, in Chromium, in front of a real hub: a secret is sealed in the browser, and the host alone opens it.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { BrowserContext, Locator, Page } from 'playwright-core'
import { WITH_BROWSER } from '../support/browser.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { type Misdeeds, openContext, settle, THEMES } from './support/console-browser.ts'
import { watchStory } from './support/failed-story.ts'
import { formsOf } from './support/forms-of-secret.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'
import { enrollRealAgent, type RealAgent } from './support/real-agent.ts'
import { serveBySvc, type SvcConsole } from '../support/serve-by-svc.ts'

const SECRET = 'correct-horse-battery-staple-9f3a'
const HOST = 'web-1.example.org'

describe('the console of svc', WITH_BROWSER, () => {
  let opened: OpenConsole
  let svc: SvcConsole
  let agent: RealAgent
  before(async () => {
    opened = await openConsole()
    svc = await serveBySvc(opened.hub, await opened.makeToken('laptop', 'admin'))
    agent = await enrollRealAgent(opened.hub, HOST)
  })
  after(async () => {
    await svc?.[Symbol.asyncDispose]()
    await opened?.[Symbol.asyncDispose]()
  })

  const signIn = async (
    theme = {},
  ): Promise<{ page: Page; context: BrowserContext; misdeeds: Misdeeds }> => {
    const { context, misdeeds } = await openContext(opened.browser, svc.origin, theme)
    watchStory(context, () => opened.hub.logText())
    const page = await context.newPage()
    await page.goto(svc.link())
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    return { page, context, misdeeds }
  }

  const signOut = async (page: Page): Promise<void> => {
    const link = svc.link()
    await page.evaluate(`fetch('/v1/admin/sessions/end', { method: 'POST', body: '{}', headers: {
      'content-type': 'application/json', 'cartorio-session': localStorage.getItem('cartorio.session') } })`)
    const deadline = Date.now() + 10_000
    while (svc.link() === link && Date.now() < deadline) await page.waitForTimeout(20)
    assert.notEqual(svc.link(), link, 'svc prints the next link')
  }

  test('[LOC-4] [LOC-8] [LOC-9] [LOC-10] a secret is in no request, and its host opens it', async () => {
    const { page, context, misdeeds } = await signIn()
    const sent: string[] = []
    context.on('request', (request) => {
      sent.push(request.url(), request.postData() ?? '', JSON.stringify(request.headers()))
    })
    await page.goto('/console/cargo/seal')
    await fieldOf(page, 'Name').fill('db-password')
    await fieldOf(page, 'Hosts').fill(HOST)
    await fieldOf(page, 'Secret').fill(SECRET)
    await page.getByRole('button', { name: 'Seal and deliver' }).click()

    const typed = page.getByLabel(`Fingerprint that ${HOST} prints`)
    await typed.waitFor()
    await checkAccessibility(page)
    const button = page.getByRole('button', { name: 'Seal and deliver' })
    assert.equal(await button.isDisabled(), true, 'nobody has vouched for the host')
    await typed.fill('SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')
    await page.getByText('That is not the fingerprint that the hub says.').waitFor()
    assert.equal(await button.isDisabled(), true)
    await typed.fill(await agent.readFingerprint())
    await button.click()

    await page.getByRole('heading', { name: /^Sealed and delivered/ }).waitFor({ timeout: 30_000 })
    assert.equal(await fieldOf(page, 'Secret').inputValue(), '')
    await checkAccessibility(page)
    const all = sent.join('\n')
    for (const form of formsOf(SECRET)) assert.equal(all.includes(form), false, form)
    assert.match(all, /YWdlLWVuY3J5cHRpb24ub3JnL3Yx/, 'the sealed file was sent')
    assert.equal(all.includes('svca_'), false, 'the browser has no admin token')

    await agent.poll()
    assert.equal(await agent.readFile('db-password'), SECRET)
    assert.match(await readFile(svc.pinFile, 'utf8'), new RegExp(HOST))
    assert.deepEqual(misdeeds, { reports: [], foreignRequests: [], errors: [] })

    // Who was vouched for once is asked for no more.
    await fieldOf(page, 'Name').fill('api-key')
    await fieldOf(page, 'Hosts').fill(HOST)
    const file = join(opened.hub.directory, 'api-key')
    await writeFile(file, SECRET)
    await page.getByLabel('Or a file').setInputFiles(file)
    await button.click()
    await page
      .getByRole('heading', { name: /^Sealed and delivered/ })
      .waitFor({ state: 'detached' })
    await page.getByRole('heading', { name: /^Sealed and delivered/ }).waitFor()
    await agent.poll()
    assert.equal(await agent.readFile('api-key'), SECRET)
    await signOut(page)
    await context.close()
  })

  test('[LOC-10] a file that is too large is refused before it is read', async () => {
    const { page, context } = await signIn()
    await page.goto('/console/cargo/seal')
    await fieldOf(page, 'Name').fill('large')
    await fieldOf(page, 'Hosts').fill(HOST)
    const file = join(opened.hub.directory, 'large')
    await writeFile(file, Buffer.alloc(9 * 1024 * 1024))
    await page.getByLabel('Or a file').setInputFiles(file)
    await page.evaluate(`Blob.prototype.arrayBuffer = () => { throw new Error('read') }`)
    await page.getByRole('button', { name: 'Seal and deliver' }).click()
    await page.getByText(/^It has .* bytes; a sealed file holds/).waitFor()
    await signOut(page)
    await context.close()
  })

  test('[LOC-4] the link signs in once, and doorbells ring', async () => {
    const link = svc.link()
    const { page, context } = await signIn()
    await page.getByText('Live', { exact: true }).first().waitFor()
    await page.reload()
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor()
    const second = await openContext(opened.browser, svc.origin)
    const other = await second.context.newPage()
    await other.goto(link)
    await other.getByRole('alert').waitFor()
    await second.context.close()
    await signOut(page)
    await context.close()
  })

  test('[CON-5] the page of the hub does not seal, and says how', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/cargo/seal')
    await page.getByText('This page does not seal').waitFor()
    await settle(page)
    assert.equal(await fieldOf(page, 'Secret').count(), 0)
    await checkAccessibility(page)
    person.assertBlameless()
  })

  test('has no faults for who sees little, in each theme and width', async () => {
    for (const theme of THEMES) {
      const { page, context, misdeeds } = await signIn(theme)
      await page.goto('/console/cargo/seal')
      await fieldOf(page, 'Secret').waitFor()
      await checkAccessibility(page)
      assert.deepEqual(misdeeds, { reports: [], foreignRequests: [], errors: [] })
      await signOut(page)
      await context.close()
    }
  })
})

function fieldOf(page: Page, label: string): Locator {
  return page.getByRole('textbox', { name: new RegExp(`^${label}`) })
}
