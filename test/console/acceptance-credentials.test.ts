// What somebody has who has half of a session, or what was good once: nothing. In Chromium where a browser is the attacker.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { createFakeCa } from '../fakes/hub-certificates.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { settle } from './support/console-browser.ts'
import { openConsole, type OpenConsole, type SignedInPerson } from './support/open-console.ts'

const OWN = '/v1/admin/sessions/own'
const HOSTS = '/v1/admin/agentes'
const COOKIE = '__Host-cartorio'

interface OtherOrigin extends AsyncDisposable {
  readonly origin: string
  /** What browsers have sent it. */
  readonly cookies: readonly string[]
}

/** A page of the same machine's name, at another port: for a browser the same site, and cookies go there. */
async function startOtherOrigin(): Promise<OtherOrigin> {
  const { certificatePem, keyPem } = await (await createFakeCa()).issueServer('localhost')
  const cookies: string[] = []
  const server = createServer({ cert: certificatePem, key: keyPem }, ({ headers }, response) => {
    cookies.push(headers.cookie ?? '')
    response.setHeader('content-type', 'text/html')
    response.end('<!doctype html><title>other</title><h1>other</h1>')
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    origin: `https://localhost:${port}`,
    cookies,
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** How the hub answers what a page asks, whether or not the page may read it; undefined where the browser sends nothing. */
async function statusOf(page: Page, url: string, init: string): Promise<number | undefined> {
  const answered = page.waitForEvent('response', {
    predicate: (response) => response.url() === url && response.request().method() !== 'OPTIONS',
    timeout: 3000,
  })
  const asked = page.evaluate<string>(
    `fetch(${JSON.stringify(url)}, ${init}).then(({ type }) => type, (error) => String(error))`,
  )
  const [response] = await Promise.all([answered.catch(() => undefined), asked])
  return response?.status()
}

const halfOf = ({ page }: SignedInPerson): Promise<string> =>
  page.evaluate<string>(`localStorage.getItem('cartorio.session')`)

describe('[SES-1] half of a session, and what was good once', WITH_BROWSER, () => {
  let opened: OpenConsole
  before(async () => {
    opened = await openConsole()
  })
  after(() => opened[Symbol.asyncDispose]())

  test('both halves in the page of the hub are in; the cookie alone is not', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await settle(page)
    const half = await halfOf(person)
    const url = `${opened.origin}${HOSTS}`
    const withBoth = `{ headers: { 'cartorio-session': ${JSON.stringify(half)} } }`
    assert.equal(await statusOf(page, url, withBoth), 200)
    assert.equal(await statusOf(page, url, '{}'), 401)
    assert.equal(await page.evaluate(`document.cookie`), '', 'no script reads the cookie')
  })

  test('a stolen cookie, in another browser, is not in: not for what it asks, nor for the page', async () => {
    await using person = await opened.signIn('admin')
    await settle(person.page)
    await using thief = await opened.openPerson()
    await thief.context.addCookies(await person.context.cookies())
    await thief.page.goto('/console/hosts')
    await thief.page.getByLabel('Admin token').waitFor()
    for (const path of [OWN, HOSTS, '/v1/admin/changes']) {
      assert.equal(await statusOf(thief.page, `${opened.origin}${path}`, '{}'), 401, path)
    }
  })

  test('a stolen header, in another browser, is not in: not for what it asks, nor for the page', async () => {
    await using person = await opened.signIn('admin')
    await settle(person.page)
    const half = await halfOf(person)
    await using thief = await opened.openPerson()
    const { page } = thief
    await page.goto('/console/')
    await page.getByLabel('Admin token').waitFor()
    const withHalf = `{ headers: { 'cartorio-session': ${JSON.stringify(half)} } }`
    for (const path of [OWN, HOSTS, '/v1/admin/changes']) {
      assert.equal(await statusOf(page, `${opened.origin}${path}`, withHalf), 401, path)
    }
    await page.evaluate(`localStorage.setItem('cartorio.session', ${JSON.stringify(half)})`)
    await page.goto('/console/hosts')
    await page.getByLabel('Admin token').waitFor()
  })

  test('halves of two sessions are no session', async () => {
    await using one = await opened.signIn('admin')
    await using other = await opened.signIn('admin')
    await settle(one.page)
    await settle(other.page)
    const half = await halfOf(other)
    const mixed = `{ headers: { 'cartorio-session': ${JSON.stringify(half)} } }`
    assert.equal(await statusOf(one.page, `${opened.origin}${OWN}`, mixed), 401)
  })

  test('a page of another port has the cookie, and nothing by it; with both halves neither', async () => {
    await using other = await startOtherOrigin()
    await using person = await opened.signIn('admin')
    await settle(person.page)
    const half = await halfOf(person)
    const page = await person.context.newPage()
    await page.goto(other.origin)
    const hosts = `${opened.origin}${HOSTS}`
    assert.match(other.cookies.join(), new RegExp(`${COOKIE}=svcc_`), 'a cookie knows no port')
    assert.equal(await statusOf(page, hosts, `{ mode: 'no-cors', credentials: 'include' }`), 401)
    const post = `{ method: 'POST', mode: 'no-cors', credentials: 'include', body: '{}' }`
    const made = `${opened.origin}/v1/admin/tokens`
    assert.equal(await statusOf(page, made, post), 401)
    // Not asked at all: the browser asks first whether it may send that header, and is not told so.
    const withHeader = `{ credentials: 'include', headers: { 'cartorio-session': ${JSON.stringify(half)} } }`
    assert.equal(await statusOf(page, hosts, withHeader), undefined)
    // What is not a browser says what it likes; the cookie's owner is in a browser, which says where a page is from.
    const forged = await person.context.request.get(HOSTS, {
      headers: { 'cartorio-session': half, 'sec-fetch-site': 'same-site' },
    })
    assert.equal(forged.status(), 401)
    const led = await page.goto(hosts)
    assert.equal(led?.status(), 401, 'a link that somebody is led along')
    const framed = await page.evaluate<boolean>(`new Promise((resolve) => {
      const frame = document.createElement('iframe')
      frame.src = '${opened.origin}/console/'
      frame.onload = () => { try { resolve(frame.contentDocument !== null) } catch { resolve(false) } }
      document.body.append(frame)
    })`)
    assert.equal(framed, false)
    assert.deepEqual(
      await opened.hub
        .admin<{ tokens: unknown[] }>('GET', '/v1/admin/tokens')
        .then(({ tokens }) => tokens),
      [],
      'nobody made a token',
    )
  })

  test('a sign-in link that was used is refused with 401, with and without its cookie', async () => {
    const { code } = await opened.hub.admin<{ code: string }>('POST', '/v1/admin/sign-in-links', {
      name: 'once',
      role: 'viewer',
      valid_seconds: 120,
    })
    await using person = await opened.openPerson()
    await person.page.goto(`/console/sign-in#code=${code}`)
    await person.page.locator('.side summary.who').waitFor()
    await using thief = await opened.openPerson()
    const refused = thief.page.waitForResponse(
      (response) => new URL(response.url()).pathname === '/v1/admin/sessions',
    )
    await thief.page.goto(`/console/sign-in#code=${code}`)
    assert.equal((await refused).status(), 401)
    await thief.page.getByRole('alert').waitFor()
    assert.equal(await thief.page.locator('.side summary.who').count(), 0)
    person.assertBlameless()
    thief.assertBlameless()
  })
})
