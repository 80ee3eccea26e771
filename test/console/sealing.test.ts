// The hub's own page, where its operator permits sealing: a secret is in no request, and the person vouches for each recipient.

import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import type { AdminReplies } from '../../src/protocol/admin/operations.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { THEMES } from './support/console-browser.ts'
import { formsOf } from './support/forms-of-secret.ts'
import { openConsole, type OpenConsole, type SignedInPerson } from './support/open-console.ts'
import { enrollRealAgent, type RealAgent } from './support/real-agent.ts'

const SECRET = 'staple-horse-battery-correct-4c1e'
const HOST = 'web-1.example.org'
const SAID =
  'This page came from the hub: a person who controls the hub could read what you type here. svc console is the way that excludes it.'

describe('[CON-5] [CON-6] a hub whose page may seal', WITH_BROWSER, () => {
  let opened: OpenConsole
  let agent: RealAgent
  /** `recipients.json`, as the page gave it. */
  let saved: string
  before(async () => {
    opened = await openConsole({ SVC_CONSOLE_SEALING: 'on' })
    agent = await enrollRealAgent(opened.hub, HOST)
    saved = join(opened.hub.directory, 'saved.json')
  })
  after(async () => {
    await opened?.[Symbol.asyncDispose]()
  })

  const fill = async ({ page }: SignedInPerson, name: string, secret: string): Promise<void> => {
    await fieldOf(page, 'Name').fill(name)
    await fieldOf(page, 'Hosts').fill(HOST)
    await fieldOf(page, 'Secret').fill(secret)
  }

  test('a secret is in no request, its host opens it, and nothing is kept in the browser', async () => {
    await using person = await opened.signIn('operator')
    const { page, context } = person
    const sent = recordRequests(person)
    await page.goto('/console/cargo/seal')
    await page.getByText(SAID).waitFor()
    await fill(person, 'db-password', SECRET)
    await sealButton(page).click()
    const typed = page.getByLabel(`Fingerprint that ${HOST} prints`)
    await typed.waitFor()
    await checkAccessibility(page)
    assert.equal(await sealButton(page).isDisabled(), true, 'nobody has vouched for the host')
    await typed.fill('SHA256:AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA')
    await page.getByText('That is not the fingerprint that the hub says.').waitFor()
    await typed.fill(await agent.readFingerprint())
    await sealButton(page).click()
    await delivered(page).waitFor({ timeout: 30_000 })
    assert.equal(await fieldOf(page, 'Secret').inputValue(), '')
    await checkAccessibility(page)
    const all = sent.join('\n')
    for (const form of formsOf(SECRET)) assert.equal(all.includes(form), false, form)
    assert.match(all, /YWdlLWVuY3J5cHRpb24ub3JnL3Yx/, 'the sealed file was sent')
    await agent.poll()
    assert.equal(await agent.readFile('db-password'), SECRET)

    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('link', { name: 'Save recipients.json' }).click(),
    ])
    assert.equal(download.suggestedFilename(), 'recipients.json')
    await download.saveAs(saved)
    const { agentes, escrow } = JSON.parse(await readFile(saved, 'utf8'))
    const fingerprint = await agent.readFingerprint()
    assert.deepEqual(Object.values(agentes), [{ hostname: HOST, fingerprint }])
    assert.deepEqual(escrow, [])
    const kept = await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
    assert.doesNotMatch(String(kept), /SHA256:/)
    assert.equal((await context.cookies()).length, 1)
    person.assertBlameless()
  })

  test('who brings recipients along is asked for the others alone', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    const sent = recordRequests(person)
    await page.goto('/console/cargo/seal')
    await fill(person, 'api-key', SECRET)
    await page.getByLabel(/^Recipients that you know/).setInputFiles(saved)
    await sealButton(page).click()
    await delivered(page).waitFor({ timeout: 30_000 })
    await agent.poll()
    assert.equal(await agent.readFile('api-key'), SECRET)
    assert.doesNotMatch(sent.join('\n'), /"escrow": \[\],\s+"cargas"/, 'the file went nowhere')

    const swapped = (await readFile(saved, 'utf8')).replace(
      /SHA256:[^"]+/,
      `SHA256:${'B'.repeat(43)}`,
    )
    await fill(person, 'api-key-2', SECRET)
    await choosePins(page, swapped)
    await sealButton(page).click()
    await page.getByText(`it was SHA256:${'B'.repeat(43)}`).waitFor()
    assert.equal(await sealButton(page).isDisabled(), true)
    person.assertBlameless()
  })

  test('a file of recipients that is none, or too large, is refused', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/cargo/seal')
    await fill(person, 'other', SECRET)
    await choosePins(page, '{"version": 2}')
    await sealButton(page).click()
    const refused = page.getByText(/^The file of recipients is damaged, too large/)
    await refused.waitFor()
    await page.reload()
    await fill(person, 'other', SECRET)
    await choosePins(page, Buffer.alloc(17 * 1024 * 1024, 0x20))
    await page.evaluate(`Blob.prototype.text = () => { throw new Error('read') }`)
    await sealButton(page).click()
    await refused.waitFor()
    person.assertBlameless()
  })

  test('a secret that is too large is refused before it is read', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/cargo/seal')
    await fieldOf(page, 'Name').fill('large')
    await fieldOf(page, 'Hosts').fill(HOST)
    const file = join(opened.hub.directory, 'large')
    await writeFile(file, Buffer.alloc(9 * 1024 * 1024))
    await page.getByLabel('Or a file').setInputFiles(file)
    await page.evaluate(`Blob.prototype.arrayBuffer = () => { throw new Error('read') }`)
    await sealButton(page).click()
    await page.getByText(/^It has .* bytes; a sealed file holds/).waitFor()
    person.assertBlameless()
  })

  test('a version that somebody else made meanwhile is shown before it is replaced', async () => {
    const { cargas } = await opened.hub.admin<AdminReplies['listCargoes']>(
      'GET',
      '/v1/admin/cargas',
    )
    const id = cargas.find(({ nome }) => nome === 'db-password')?.id ?? ''
    await using first = await opened.signIn('operator')
    await using second = await opened.signIn('operator')
    for (const { page } of [first, second]) {
      await page.goto(`/console/cargo/seal?carga=${id}`)
      await page.getByText('Version 2 of db-password, for the hosts that have it.').waitFor()
      await page.getByLabel(/^Recipients that you know/).setInputFiles(saved)
    }
    await fieldOf(first.page, 'Secret').fill('the first one’s secret')
    await sealButton(first.page).click()
    await delivered(first.page).waitFor({ timeout: 30_000 })
    await fieldOf(second.page, 'Secret').fill(SECRET)
    await sealButton(second.page).click()
    const dialog = second.page.getByRole('dialog', { name: 'db-password has changed' })
    await dialog.getByText(`token:${first.tokenName} changed it at`).waitFor({ timeout: 30_000 })
    await dialog.getByRole('cell', { name: 'the file that you seal' }).waitFor()
    await checkAccessibility(second.page)
    await dialog.getByRole('button', { name: 'Set what you want' }).click()
    await delivered(second.page).waitFor({ timeout: 30_000 })
    await agent.poll()
    assert.equal(await agent.readFile('db-password'), SECRET)
    for (const person of [first, second]) person.assertBlameless()
  })

  test('[API-16] a sealed file that nobody answered for is sent again, and counts once', async () => {
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/cargo/seal')
    await fill(person, 'once', SECRET)
    await page.getByLabel(/^Recipients that you know/).setInputFiles(saved)
    await loseAnswer(page, '**/v1/admin/cargas')
    await sealButton(page).click()
    const again = page.getByRole('button', { name: 'Send the sealed file again' })
    await again.waitFor({ timeout: 30_000 })
    await again.click()
    await delivered(page).waitFor({ timeout: 30_000 })
    const { cargas } = await opened.hub.admin<AdminReplies['listCargoes']>(
      'GET',
      '/v1/admin/cargas',
    )
    assert.equal(cargas.filter(({ nome }) => nome === 'once').length, 1)
  })

  test('[LOC-10] a next version that nobody answered for is sent again, and is no conflict with itself', async () => {
    const { cargas } = await opened.hub.admin<AdminReplies['listCargoes']>(
      'GET',
      '/v1/admin/cargas',
    )
    const id = cargas.find(({ nome }) => nome === 'api-key')?.id ?? ''
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto(`/console/cargo/seal?carga=${id}`)
    await page.getByText('Version 2 of api-key, for the hosts that have it.').waitFor()
    await page.getByLabel(/^Recipients that you know/).setInputFiles(saved)
    await fieldOf(page, 'Secret').fill(SECRET)
    await loseAnswer(page, '**/v1/admin/cargas/update')
    await sealButton(page).click()
    const again = page.getByRole('button', { name: 'Send the sealed file again' })
    await again.waitFor({ timeout: 30_000 })
    await again.click()
    await delivered(page).waitFor({ timeout: 30_000 })
    assert.equal(await fieldOf(page, 'Secret').inputValue(), '')
    const shown = await opened.hub.admin<AdminReplies['showCargo']>(
      'POST',
      '/v1/admin/cargas/show',
      { carga: id },
    )
    assert.equal(shown.versao, 2)
  })

  test('a form is of the cargo that its address names', async () => {
    const { cargas } = await opened.hub.admin<AdminReplies['listCargoes']>(
      'GET',
      '/v1/admin/cargas',
    )
    const idOf = (name: string): string => cargas.find(({ nome }) => nome === name)?.id ?? ''
    await using person = await opened.signIn('operator')
    const { page } = person
    const addressOf = (name: string): string => `/console/cargo/seal?carga=${idOf(name)}`
    // In the page, so that it remembers the first one.
    const goTo = async (name: string): Promise<void> => {
      const address = JSON.stringify(addressOf(name))
      await page.evaluate(`history.pushState(null, '', ${address})`)
      await page.evaluate(`dispatchEvent(new PopStateEvent('popstate'))`)
    }
    await page.goto(addressOf('db-password'))
    await page.getByText(/^Version \d+ of db-password, for the hosts/).waitFor()
    await goTo('api-key')
    await page.getByText(/^Version \d+ of api-key, for the hosts/).waitFor()
    await fieldOf(page, 'Secret').fill(SECRET)
    await goTo('db-password')
    await page.getByText(/^Version \d+ of db-password, for the hosts/).waitFor({ timeout: 5000 })
    assert.equal(await fieldOf(page, 'Secret').inputValue(), '')
    person.assertBlameless()
  })

  test('a viewer has no form', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/cargo/seal')
    await page.getByRole('heading', { level: 1, name: 'Seal a file' }).waitFor()
    assert.equal(await fieldOf(page, 'Secret').count(), 0)
    person.assertBlameless()
  })

  test('has no faults in each theme and width, and says whose page it is', async () => {
    for (const theme of THEMES) {
      await using person = await opened.signIn('operator', theme)
      const { page } = person
      await page.goto('/console/cargo/seal')
      await fieldOf(page, 'Secret').waitFor()
      assert.equal(await page.getByText(SAID).isVisible(), true)
      await checkAccessibility(page)
      person.assertBlameless()
    }
  })
})

function recordRequests({ context }: SignedInPerson): string[] {
  const sent: string[] = []
  context.on('request', (request) => {
    sent.push(request.url(), request.postData() ?? '', JSON.stringify(request.headers()))
  })
  return sent
}

/** The hub gets the first one and does it; the answer is lost on its way. */
async function loseAnswer(page: Page, pattern: string): Promise<void> {
  let isLost = false
  await page.route(pattern, async (route) => {
    const request = route.request()
    if (isLost || request.method() !== 'POST') return route.continue()
    isLost = true
    // The browser adds it where it sends a request by itself, and a session wants it.
    const headers = { ...request.headers(), 'sec-fetch-site': 'same-origin' }
    const answer = await route.fetch({ headers })
    assert.ok(answer.ok(), await answer.text())
    return route.abort('connectionreset')
  })
}

function choosePins(page: Page, content: string | Buffer): Promise<void> {
  return page.getByLabel(/^Recipients that you know/).setInputFiles({
    name: 'recipients.json',
    mimeType: 'application/json',
    buffer: Buffer.from(content),
  })
}

function fieldOf(page: Page, label: string): Locator {
  return page.getByRole('textbox', { name: new RegExp(`^${label}`) })
}

function sealButton(page: Page): Locator {
  return page.getByRole('button', { name: 'Seal and deliver' })
}

function delivered(page: Page): Locator {
  return page.getByRole('heading', { name: /^Sealed and delivered/ })
}
