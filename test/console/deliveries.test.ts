// What is delivered, what failed, and what is done about it: in Chromium, with a real hub.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { WITH_BROWSER } from '../support/browser.ts'
import { createDelivery, findDelivery } from '../support/deliveries.ts'
import { enrollHost, type EnrolledHost, withIdentity } from '../support/enrolled-host.ts'
import { waitUntil } from '../support/processes.ts'
import { assertOk, post } from '../support/wire-client.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { passTime, settle, THEMES } from './support/console-browser.ts'
import { openConsole, type OpenConsole } from './support/open-console.ts'

const LONG = `EACCES: permission denied, open '/srv/${'x'.repeat(260)}'`
const LIST = '/v1/admin/entregas/list'
const SUMMARY = '/v1/admin/fleet/summary'
/** A page asks what a bell is about within this. */
const BELL_MS = 2000
/** A page without a stream asks within this. */
const POLLED_MS = 16_000
const HOSTILE = '<img src=x onerror=alert(1)>'

describe('deliveries', WITH_BROWSER, () => {
  let opened: OpenConsole
  let hosts: readonly EnrolledHost[]
  before(async () => {
    opened = await openConsole()
    hosts = await Promise.all(
      ['web-1', 'web-2', 'web-3'].map((name) => enrollHost(opened.hub, `${name}.example.org`)),
    )
  })
  after(() => opened[Symbol.asyncDispose]())

  /** A delivery that its host could not put in place. */
  const fail = async (at: number, nome: string, erro: string): Promise<string> => {
    const host = hosts[at]
    assert.ok(host)
    const { id } = await createDelivery(opened.hub, host.hostname, nome)
    const event = { tipo_evento: 'entrega_falhou', entrega_id: id, payload: { erro } }
    const target = withIdentity(opened.hub, host, { servername: 'localhost' })
    assertOk(await post(target, '/v1/events', event))
    return id
  }
  const statusOf = async (id: string): Promise<string | undefined> =>
    (await findDelivery(opened.hub, id))?.status

  test('nothing failed, and the filters of the URL find nothing', async () => {
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/deliveries?status=falhou&carga=')
    await page.getByText('Nothing matches').waitFor()
    assert.equal(await page.getByText('Why they fail').count(), 0)
    await page.getByRole('link', { name: 'Clear filters' }).click()
    await page.getByText('Nothing here yet').waitFor()
    person.assertBlameless()
  })

  test('a group of one reason is tried again, after it was said what happens', async () => {
    const ids = [
      await fail(0, 'motd', 'write /etc/motd: no space left on device\nline of web-1'),
      await fail(1, 'motd-2', 'write /etc/motd: no space left on device\nline of web-2'),
    ]
    const other = await fail(2, 'site', HOSTILE)
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/deliveries')
    const line = page.getByRole('listitem').filter({ hasText: 'no space left' })
    await line.getByText('2 deliveries, such as').waitFor()
    await page.getByRole('listitem').filter({ hasText: HOSTILE }).waitFor()
    await line.getByRole('button', { name: 'Retry this group…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Try this group again' })
    await dialog.getByText('2 × entrega_retried').waitFor()
    await dialog.getByText('It will fail again in the same way', { exact: false }).waitFor()
    await checkAccessibility(page)
    await dialog.getByRole('button', { name: 'Try again' }).click()
    await dialog.waitFor({ state: 'detached' })
    await line.waitFor({ state: 'detached' })
    for (const id of ids) assert.equal(await statusOf(id), 'substituida')
    assert.equal(await statusOf(other), 'falhou')
    person.assertBlameless()
  })

  test('[OVW-2] what the hub gathered before the act is asked for until it knows of it', async () => {
    const id = await fail(0, 'once', 'no route to host')
    await using person = await opened.signIn('operator')
    const { page } = person
    let gathered: object = {}
    let gatheredAgain = 0
    let isKept = false
    page.on('response', async (response) => {
      if (!isKept && response.url().endsWith(SUMMARY)) gathered = (await response.json()) as object
    })
    await page.route(`**${SUMMARY}`, (route) => {
      if (!isKept) return route.continue()
      gatheredAgain += 1
      return route.fulfill({ json: { ...gathered, time: new Date().toISOString() } })
    })
    await page.goto('/console/deliveries')
    const line = page.getByRole('listitem').filter({ hasText: 'no route to host' })
    await line.getByRole('button', { name: 'Retry this group…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Try this group again' })
    await dialog.getByText('1 × entrega_retried').waitFor()
    isKept = true
    await dialog.getByRole('button', { name: 'Try again' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await statusOf(id), 'substituida')
    // The act and the bells of its entries ask no more than three times.
    await waitUntil('the page to ask again', () => gatheredAgain > 3 || undefined)
    await line.waitFor()
    isKept = false
    await line.waitFor({ state: 'detached' })
    person.assertBlameless()
  })

  test('what the hub had no time to answer is asked for again, though no bell rings', async () => {
    await fail(2, 'busy', 'the disk is read-only')
    await using person = await opened.signIn('viewer')
    const { page, context } = person
    await context.clock.install()
    const asked: string[] = []
    context.on('request', (request) => asked.push(new URL(request.url()).pathname))
    const busy = { status: 503, json: { error: 'hub_busy', message: 'ask again later' } }
    const isAnswered = (url: URL): boolean => [SUMMARY, LIST].includes(url.pathname)
    await page.route(isAnswered, (route) => route.fulfill(busy))
    await page.goto('/console/deliveries')
    await page.getByText('ask again later').waitFor()
    await page.locator('.live', { hasText: 'Live' }).waitFor()
    // The stream begins with a bell.
    await passTime(page, BELL_MS)
    await page.unrouteAll()
    await passTime(page, POLLED_MS)
    await page.getByRole('row').filter({ hasText: 'busy' }).waitFor()
    await page.getByRole('listitem').filter({ hasText: 'the disk is read-only' }).waitFor()
    const streams = asked.filter((path) => path === '/v1/admin/changes')
    assert.equal(streams.length, 1, 'another stream would have begun with a bell')
    person.assertBlameless()
  })

  test('a reason that the summary cuts is tried again by its whole line', async () => {
    const id = await fail(0, 'long', LONG)
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/deliveries')
    const line = page.getByRole('listitem').filter({ hasText: '/srv/xxx' })
    await line.getByRole('button', { name: 'Retry this group…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Try this group again' })
    await dialog.getByText('1 × entrega_retried').waitFor()
    await dialog.getByRole('button', { name: 'Try again' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await statusOf(id), 'substituida')
    person.assertBlameless()
  })

  test('those that the filters leave are tried again, and no other', async () => {
    const wanted = await fail(1, 'mine', 'unable')
    const other = await fail(2, 'theirs', 'unable')
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/deliveries?status=falhou&carga=mine')
    await page.getByRole('button', { name: 'Retry this one…' }).click()
    const dialog = page.getByRole('dialog', { name: 'Try 1 delivery again' })
    await dialog.getByText('1 × entrega_retried').waitFor()
    await dialog.getByRole('button', { name: 'Try again' }).click()
    await dialog.waitFor({ state: 'detached' })
    assert.equal(await statusOf(wanted), 'substituida')
    assert.equal(await statusOf(other), 'falhou')
    person.assertBlameless()
  })

  test('one is opened by its row, and cancelled; the URL holds what is open', async () => {
    const { id } = await createDelivery(opened.hub, 'web-1.example.org', 'ended')
    await using person = await opened.signIn('operator')
    const { page } = person
    await page.goto('/console/deliveries?carga=ended')
    await page.getByRole('link', { name: 'web-1.example.org' }).click()
    const dialog = page.getByRole('dialog', { name: 'web-1.example.org/ended' })
    await dialog.getByText(id).waitFor()
    assert.equal(new URL(page.url()).searchParams.get('open'), id)
    await checkAccessibility(page)
    await dialog.getByRole('button', { name: 'Cancel delivery…' }).click()
    const sure = page.getByRole('dialog', { name: 'Cancel web-1.example.org/ended' })
    await sure.getByText('1 × entrega_cancelled').waitFor()
    await sure.getByRole('button', { name: 'Cancel delivery' }).click()
    await sure.waitFor({ state: 'detached' })
    assert.equal(await statusOf(id), 'cancelada')
    await dialog.getByText('Cancelled').waitFor()
    assert.equal(await dialog.getByRole('button', { name: 'Cancel delivery…' }).count(), 0)
    await dialog.getByRole('button', { name: 'Close' }).click()
    await dialog.waitFor({ state: 'detached' })
    person.assertBlameless()
  })

  test('a viewer sees why, and no action', async () => {
    await fail(0, 'seen', 'not for a viewer')
    await using person = await opened.signIn('viewer')
    const { page } = person
    await page.goto('/console/deliveries?status=falhou')
    const line = page.getByRole('listitem').filter({ hasText: 'not for a viewer' })
    await line.getByRole('link', { name: 'See why' }).waitFor()
    await settle(page)
    assert.equal(await page.getByRole('button', { name: /retry|again|cancel/iu }).count(), 0)
    await page.locator('a.whole-row').first().click()
    await page.getByRole('dialog').getByText('What the host said').waitFor()
    assert.equal(await page.getByRole('button', { name: /retry|again|cancel/iu }).count(), 0)
    person.assertBlameless()
  })

  for (const theme of THEMES) {
    test(`axe finds no fault, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await opened.signIn('operator', theme)
      await person.page.goto('/console/deliveries?status=falhou')
      await person.page.locator('a.whole-row').first().waitFor()
      await settle(person.page)
      await checkAccessibility(person.page)
      person.assertBlameless()
    })
  }
})
