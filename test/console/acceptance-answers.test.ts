// The questions that people come with: how many clicks and seconds the answer is away, and what the browser loads for it.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { WITH_BROWSER } from '../support/browser.ts'
import { settle } from './support/console-browser.ts'
import { openSeededConsole, type SeededConsole } from './support/seeded-console.ts'

const HOSTS = 400
const FIRST_LOAD_BYTES_MAX = 80_000

interface Question {
  readonly question: string
  /** Of clicks from the overview. */
  readonly clicks: readonly ((page: Page) => Promise<void>)[]
  /** After them, without a click. */
  readonly types?: (page: Page) => Promise<void>
  readonly answer: RegExp
}

const follow =
  (name: string | RegExp) =>
  (page: Page): Promise<void> =>
    page.getByRole('link', { name }).first().click()
const press =
  (name: string) =>
  (page: Page): Promise<void> =>
    page.getByRole('button', { name }).first().click()

const QUESTIONS: readonly Question[] = [
  {
    question: 'Is anything late or about to end?',
    clicks: [],
    answer: /3 hosts are late\. 1 host has expired\. The first certificate ends in \d+ min/,
  },
  {
    question: 'Why did db-1.sao not get its certificate?',
    clicks: [follow('Open host')],
    answer: /db-1\.sao\.example\.org[^]*(silent|not been heard|has not asked|last poll)/i,
  },
  {
    question: 'How long may the hub stay down?',
    clicks: [],
    answer: /The hub may stay down for\s*\d+ h/,
  },
  {
    question: 'Is it the hub, the CA or the host?',
    clicks: [],
    answer: /The hub, its store and the CA are ready/,
  },
  { question: 'How far is the rollout?', clicks: [], answer: /\d+ of \d+/ },
  {
    question: 'What happens if I change this politica?',
    clicks: [follow(/^Policies/), follow(/^web$/)],
    types: (page) => page.getByLabel('Permitted names').fill('www.example.org'),
    answer: /It would hold for [\d,]+ hosts\.[^]*(would have forbidden names|No cargo)/,
  },
  {
    question: 'Who revoked a host, and when?',
    clicks: [follow(/^Audit log/), press('People')],
    answer: /agent_revoked/,
  },
  {
    question: 'Is the log intact?',
    clicks: [follow(/^Audit log/)],
    answer: /No break in [\d,]+ entries/,
  },
  {
    question: 'Who has access, who was refused?',
    clicks: [follow(/^Access/)],
    answer: /left-the-team[^]*oncall[^]*Refused requests[^]*admin_token_invalid/,
  },
  {
    question: 'What still needs the old root?',
    clicks: [follow(/^Trust roots/)],
    answer: /What still needs the old root\?[^]*\d+ of [\d,]+ hosts/,
  },
]

describe('an answer', WITH_BROWSER, () => {
  let opened: SeededConsole
  before(async () => {
    opened = await openSeededConsole(HOSTS)
  })
  after(() => opened[Symbol.asyncDispose]())

  test('is as few clicks away as it shall be', async (t) => {
    // Who may not set a politica sees what holds, and no form; who has access is a question of admins.
    await using person = await opened.signIn('admin')
    const { page } = person
    const headers = { authorization: 'Bearer svca_of-nobody' }
    const refused = await person.context.request.get('/v1/admin/agentes', { headers })
    assert.equal(refused.status(), 401)
    for (const { question, clicks, types, answer } of QUESTIONS) {
      // Without a click the answer comes with the page.
      let startedMs = performance.now()
      await page.goto('/console/')
      if (clicks.length > 0) {
        await page.getByText('The hub may stay down for').waitFor()
        await settle(page)
        startedMs = performance.now()
      }
      for (const click of clicks) await click(page)
      await types?.(page)
      await page
        .locator('main', { hasText: answer })
        .waitFor()
        .catch(async (error: unknown) => {
          const said = await page.locator('main').innerText()
          throw new Error(`${question} ${said.slice(0, 1500)}`, { cause: error })
        })
      const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
      t.diagnostic(`${question} ${clicks.length} clicks, ${seconds} s`)
    }
    assert.deepEqual(person.misdeeds, { reports: [], foreignRequests: [], errors: [] })
  })

  test(`costs a browser that was never here at most ${FIRST_LOAD_BYTES_MAX / 1000} kB before the first screen`, async (t) => {
    await using person = await opened.signIn()
    const { page, context } = person
    const debug = await context.newCDPSession(page)
    await debug.send('Network.enable')
    await debug.send('Network.clearBrowserCache')
    const paths = new Map<string, string>()
    const loaded = new Map<string, number>()
    debug.on('Network.responseReceived', ({ requestId, response }) => {
      const { pathname } = new URL(response.url)
      if (pathname.startsWith('/console/')) paths.set(requestId, pathname)
    })
    debug.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
      const path = paths.get(requestId)
      if (path !== undefined) loaded.set(path, encodedDataLength)
    })
    await page.goto('/console/')
    await page.getByText('The hub may stay down for').waitFor()
    await settle(page)
    const bytes = [...loaded.values()].reduce((sum, one) => sum + one, 0)
    for (const [path, size] of loaded) t.diagnostic(`${path} ${size} bytes`)
    t.diagnostic(`${bytes} bytes with their headers`)
    assert.ok(loaded.size >= 3, [...loaded.keys()].join(' '))
    assert.ok(bytes > 10_000, 'what came from the cache does not count')
    assert.ok(bytes <= FIRST_LOAD_BYTES_MAX, `${bytes} bytes`)
    assert.deepEqual(person.misdeeds.foreignRequests, [])
  })
})
