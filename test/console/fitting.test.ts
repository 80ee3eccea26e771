// What is drawn and written has the room that it needs: nothing covers something else, and nothing is cut.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Locator, Page } from 'playwright-core'
import { WITH_BROWSER } from '../support/browser.ts'
import { settle } from './support/console-browser.ts'
import { openSeededConsole, type SeededConsole } from './support/seeded-console.ts'

interface Box {
  readonly x: number
  readonly y: number
  readonly width: number
  readonly height: number
}

const PORTUGUESE = `localStorage.setItem('cartorio.language', 'pt-BR')`
const WIDTHS = [1440, 390]

/** Where it is that hour by now. */
function zoneWhereItIs(hour: number): string {
  const ahead = ((hour - new Date().getUTCHours() + 35) % 24) - 11
  return ahead === 0 ? 'Etc/GMT' : `Etc/GMT${ahead > 0 ? '-' : '+'}${Math.abs(ahead)}`
}

function doMeet(one: Box, other: Box): boolean {
  return (
    one.x < other.x + other.width &&
    other.x < one.x + one.width &&
    one.y < other.y + other.height &&
    other.y < one.y + one.height
  )
}

async function boxesOf(locator: Locator): Promise<readonly (Box & { readonly text: string })[]> {
  return Promise.all(
    (await locator.all()).map(async (one) => {
      const box = await one.boundingBox()
      assert.ok(box !== null)
      return { ...box, text: (await one.textContent()) ?? '' }
    }),
  )
}

function assertApart(boxes: readonly (Box & { readonly text: string })[], gapPx = 0): void {
  for (const [at, one] of boxes.entries()) {
    for (const other of boxes.slice(at + 1)) {
      assert.ok(
        !doMeet({ ...one, width: one.width + gapPx }, other),
        `“${one.text}” and “${other.text}” meet`,
      )
    }
  }
}

async function openFailedHost(page: Page): Promise<void> {
  await page.goto('/console/deliveries?status=falhou&q=web-')
  await page.locator('main table tr:has-text("site v7") a').first().click()
  await page.locator('dialog a[href*="/hosts/"]').first().click()
  await page.locator('svg.lanes').waitFor()
  await settle(page)
}

async function overflowOf(page: Page): Promise<number> {
  return page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
}

describe('what is shown', WITH_BROWSER, () => {
  let opened: SeededConsole
  before(async () => {
    opened = await openSeededConsole(400)
  })
  after(() => opened[Symbol.asyncDispose]())

  for (const widthPx of WIDTHS) {
    test(`the axis of a host has its labels side by side and its day once, at ${widthPx}`, async () => {
      await using person = await opened.signIn('admin', { widthPx, timezoneId: zoneWhereItIs(20) })
      const { page } = person
      await openFailedHost(page)
      const picture = await page.locator('svg.lanes').boundingBox()
      assert.ok(picture !== null)
      const labels = await boxesOf(page.locator('svg.lanes .axis-label'))
      assert.ok(labels.length >= 3, String(labels.length))
      assertApart(labels)
      for (const { x, width, text } of labels) {
        assert.ok(x >= picture.x && x + width <= picture.x + picture.width + 1, text)
      }
      const days = labels.filter(({ text }) => /\p{L}/u.test(text))
      assert.equal(days.length, 1, labels.map(({ text }) => text).join(' '))
      const nows = await boxesOf(page.locator('svg.lanes > text.strong'))
      assert.equal(nows.length, 1)
      for (const mark of await boxesOf(page.locator('svg.lanes .mark circle'))) {
        assert.ok(!nows.some((now) => doMeet(now, mark)), 'a mark covers now')
      }
    })
  }

  test('the word now of the Portuguese overview touches no day', async () => {
    for (const hour of [20, 21, 22]) {
      const timezoneId = zoneWhereItIs(hour)
      await using person = await opened.signIn('viewer', { timezoneId })
      await person.context.addInitScript(PORTUGUESE)
      await person.page.goto('/console/')
      await person.page.locator('svg.chart text', { hasText: 'agora' }).first().waitFor()
      const axis = (await boxesOf(person.page.locator('svg.chart g[role=img] > text'))).filter(
        ({ text }) => /^(agora|\d\d:00|\p{L}+\.?, \d+)$/u.test(text),
      )
      assert.ok(axis.length >= 4, axis.map(({ text }) => text).join(' '))
      assertApart(axis, 6)
    }
  })

  test('the menu of the name holds what is in it', async () => {
    for (const script of ['', PORTUGUESE]) {
      await using person = await opened.signIn('admin')
      const { page } = person
      await person.context.addInitScript(script)
      await page.reload()
      await page.locator('.side .who').click()
      const menu = await page.locator('.side .menu-body').boundingBox()
      assert.ok(menu !== null)
      const parts = await boxesOf(
        page.locator('.side .menu-body :is(label, select, input, button)'),
      )
      for (const { x, width, text } of parts) {
        assert.ok(x >= menu.x && x + width <= menu.x + menu.width, `${text} sticks out`)
      }
      const [label] = await boxesOf(page.locator('.side .menu-body label:has([type=checkbox])'))
      const [box] = await boxesOf(page.locator('.side .menu-body [type=checkbox]'))
      assert.ok(label !== undefined && box !== undefined && box.x - label.x < 6)
      const gap = await page.evaluate<number>(`(() => {
        const box = document.querySelector('.side .menu-body [type=checkbox]')
        const range = document.createRange()
        range.selectNodeContents(box.nextSibling)
        return range.getBoundingClientRect().left - box.getBoundingClientRect().right
      })()`)
      assert.ok(gap < 16, `${gap} px between the checkbox and its label`)
    }
  })

  test('no screen scrolls sideways on a phone, in either language', async () => {
    // What the port refuses to a viewer is a row with long words.
    await using viewer = await opened.signIn('viewer')
    const status = await viewer.page.evaluate<number>(`fetch('/v1/admin/admin-tokens', {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'cartorio-session': localStorage.getItem('cartorio.session'),
      },
      body: JSON.stringify({ name: 'x', role: 'viewer', ttl_seconds: 60 }),
    }).then((answer) => answer.status)`)
    assert.equal(status, 403)
    for (const script of ['', PORTUGUESE]) {
      await using person = await opened.signIn('admin', { widthPx: 390 })
      await person.context.addInitScript(script)
      for (const path of ['/access', '/', '/hub', '/enrolment', '/webhooks', '/roots']) {
        await person.page.goto(`/console${path}`)
        await settle(person.page)
        assert.equal(await overflowOf(person.page), 0, path)
      }
    }
  })

  test('a long hostname ends in an ellipsis in the header of a phone', async () => {
    await using person = await opened.signIn('admin', { widthPx: 390 })
    await openFailedHost(person.page)
    const title = await person.page.evaluate<readonly [string, string, boolean]>(`(() => {
      const title = document.querySelector('.crumb h1')
      const { display, textOverflow } = getComputedStyle(title)
      return [display, textOverflow, title.scrollWidth > title.clientWidth]
    })()`)
    assert.deepEqual(title, ['block', 'ellipsis', true])
  })

  test('the overview names hosts, and says of each time what it is', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    await page.locator('.feed li').first().waitFor()
    const feed = await page.locator('.feed li').allTextContents()
    assert.doesNotMatch(feed.join('\n'), /[0-9a-f]{8}-[0-9a-f]{4}-/)
    const times = await page.locator('.list .at small').allTextContents()
    assert.ok(times.length > 0)
    for (const time of times) assert.match(time, /^\p{L}/u)
  })

  test('a link that is opened by who is in asks over a screen that is there', async () => {
    await using person = await opened.signIn('admin')
    const { page } = person
    const link = await opened.hub.makeLink({ name: 'night', role: 'viewer', valid_seconds: 600 })
    await page.goto('about:blank')
    await page.goto(link)
    await page.getByRole('dialog', { name: 'Sign in' }).waitFor()
    assert.equal(await page.getByText('There is no such page').count(), 0)
    await page.locator('h1', { hasText: 'Overview' }).waitFor({ state: 'attached' })
  })
})
