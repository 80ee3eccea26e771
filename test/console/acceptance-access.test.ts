// Who does not see well, has no mouse, or has made everything four times as large: every screen, with a fleet in trouble.

import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import type { AdminRole } from '../../src/protocol/admin/roles.ts'
import { type Picture, PICTURES } from '../../tools/console/picture-list.ts'
import { WITH_BROWSER } from '../support/browser.ts'
import { checkAccessibility } from './support/check-accessibility.ts'
import { settle, type Theme, THEMES } from './support/console-browser.ts'
import {
  openSeededConsole,
  type SeededConsole,
  type SeededPerson,
} from './support/seeded-console.ts'

const HOSTS = 400
const ZOOMED_PX = 320
const FURTHER = ['/audit', '/evidence', '/nowhere'].map((path) => ({ name: path, path }))
const SCREENS: readonly Picture[] = [
  ...PICTURES.filter(({ isSignedOut }) => isSignedOut !== true),
  ...FURTHER,
]

interface Size {
  readonly page: number
  readonly window: number
  readonly tooWide: readonly string[]
}

/** Names what is wider than the window and not in something that scrolls by itself. */
const MEASURE = `(() => {
  const window = document.documentElement.clientWidth
  const scrolls = (element) => {
    for (let one = element.parentElement; one !== null && one !== document.body; one = one.parentElement) {
      if (getComputedStyle(one).overflowX !== 'visible') return true
    }
    return false
  }
  const tooWide = Array.from(document.body.querySelectorAll('*'))
    .filter((one) => one.getBoundingClientRect().right > window + 1 && !scrolls(one))
    .map((one) => one.tagName + '.' + one.getAttribute('class') + ' ' + Math.round(one.getBoundingClientRect().right))
    .slice(0, 5)
  return { page: document.scrollingElement.scrollWidth, window, tooWide }
})()`

async function assertNoWider(page: Page, name: string): Promise<void> {
  const { page: width, window, tooWide } = await page.evaluate<Size>(MEASURE)
  assert.ok(width <= window, `${name}: ${width} px in a window of ${window}: ${tooWide.join(', ')}`)
}

let opened: SeededConsole | undefined
const signIn = async (role: AdminRole, theme?: Partial<Theme>): Promise<SeededPerson> => {
  opened ??= await openSeededConsole(HOSTS)
  return opened.signIn(role, theme)
}
after(() => opened?.[Symbol.asyncDispose]())

/** As it is when nothing is on its way to it. */
async function show(page: Page, { path, prepare }: Picture): Promise<void> {
  await page.goto(`/console${path}`)
  await settle(page)
  if (prepare === undefined) return
  await prepare(page)
  await settle(page)
}

describe('a screen', WITH_BROWSER, () => {
  for (const theme of THEMES) {
    test(`has no fault for axe, and is no wider than its window, ${theme.theme} at ${theme.widthPx}`, async () => {
      await using person = await signIn('admin', theme)
      const faults: string[] = []
      for (const screen of SCREENS) {
        await show(person.page, screen)
        const note = (error: unknown): number => faults.push(`${screen.name}: ${String(error)}`)
        await checkAccessibility(person.page).catch(note)
        await assertNoWider(person.page, screen.name).catch(note)
      }
      assert.deepEqual(faults, [])
      assert.deepEqual(person.misdeeds, { reports: [], foreignRequests: [], errors: [] })
    })
  }

  test('at 400 % does not scroll to the side', async () => {
    await using person = await signIn('admin', { widthPx: ZOOMED_PX })
    const faults: string[] = []
    for (const screen of SCREENS) {
      await show(person.page, screen)
      await assertNoWider(person.page, screen.name).catch((error: unknown) =>
        faults.push(String(error)),
      )
    }
    assert.deepEqual(faults, [])
  })

  test('of hosts has a table as wide as its card where there is little room', async () => {
    await using person = await signIn('viewer', { widthPx: 390 })
    const { page } = person
    await page.goto('/console/hosts')
    await page.locator('a.whole-row').first().waitFor()
    const { table, cells } = await page.evaluate<{ table: number; cells: number }>(`(() => {
      const row = document.querySelector('table.data tbody tr:not(.room)')
      const cells = Array.from(row.cells, (cell) => cell.getBoundingClientRect().width)
      return {
        table: row.closest('table').getBoundingClientRect().width,
        cells: cells.reduce((sum, width) => sum + width, 0),
      }
    })()`)
    assert.ok(cells > table - 2, `cells of ${cells} px in a table of ${table}`)
  })
})

const FOCUSED = `(() => {
  const one = document.activeElement
  return one === document.body ? '' : (one.getAttribute('aria-label') ?? one.textContent ?? '').trim()
})()`

/** An outline, or what stands for one, of which at least two pixels are there. */
const HAS_MARK = `(() => {
  const one = document.activeElement
  // Past the last element the focus is the browser's own for one press.
  if (one === document.body) return true
  const marks = [getComputedStyle(one), getComputedStyle(one, '::after'), getComputedStyle(one.parentElement)]
  return marks.some(({ outlineStyle, outlineWidth }) => outlineStyle !== 'none' && parseFloat(outlineWidth) >= 2)
})()`

describe('the keyboard alone', WITH_BROWSER, () => {
  /** Tab after Tab, each with a mark that is seen, until what has the focus is so called. */
  async function tabTo(page: Page, name: RegExp, pressesMax = 60): Promise<number> {
    for (let presses = 1; presses <= pressesMax; presses += 1) {
      await page.keyboard.press('Tab')
      const focused = await page.evaluate<string>(FOCUSED)
      assert.equal(await page.evaluate<boolean>(HAS_MARK), true, `the focus is seen on ${focused}`)
      if (name.test(focused)) return presses
    }
    throw new Error(`${name.source} is not reached by ${pressesMax} times Tab`)
  }

  test('goes to a host and to the question whether to revoke it, and back', async () => {
    await using person = await signIn('admin')
    const { page } = person
    await settle(page)
    await tabTo(page, /^Hosts/)
    await page.keyboard.press('Enter')
    await page.waitForURL('**/console/hosts')
    await page.locator('a.whole-row').first().waitFor()
    await page.keyboard.press('j')
    await page.keyboard.press('j')
    const second = await page.locator('a.whole-row').nth(1).innerText()
    assert.equal(await page.evaluate<string>(FOCUSED), second)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: second }).waitFor()
    await settle(page)

    await tabTo(page, /^Revoke/)
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: /Revoke/ })
    await dialog.waitFor()
    await dialog.getByText('agent_revoked').waitFor()
    assert.equal(await page.evaluate<string>('document.activeElement.tagName'), 'INPUT')
    for (let presses = 0; presses < 12; presses += 1) {
      await page.keyboard.press('Tab')
      assert.equal(
        await page.evaluate<boolean>(`document.activeElement === document.body ||
          document.activeElement.closest('dialog') !== null`),
        true,
        'the focus stays in the dialog',
      )
    }
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached' })
    assert.match(await page.evaluate<string>(FOCUSED), /^Revoke/, 'the focus is back')

    await page.goBack()
    await page.waitForURL('**/console/hosts')
    await page.getByRole('heading', { level: 1, name: 'Hosts' }).waitFor()
    assert.deepEqual(person.misdeeds, { reports: [], foreignRequests: [], errors: [] })
  })

  test('revokes, by name', async () => {
    await using person = await signIn('admin')
    const { page } = person
    await page.goto('/console/hosts?q=web-1.')
    await page.locator('a.whole-row').first().waitFor()
    await settle(page)
    await page.keyboard.press('j')
    const hostname = await page.evaluate<string>(FOCUSED)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { level: 1, name: hostname }).waitFor()
    await settle(page)
    await tabTo(page, /^Revoke/)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').getByText('agent_revoked').waitFor()
    await page.keyboard.type(hostname)
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.locator('.hosthead').getByText('revoked', { exact: false }).first().waitFor()
  })

  test('finds a host by Ctrl K and by /', async () => {
    await using person = await signIn('viewer')
    const { page } = person
    await settle(page)
    for (const key of ['Control+k', '/']) {
      await page.keyboard.press(key)
      await page.getByRole('dialog').waitFor()
      await page.keyboard.type('db-1.sao')
      await page
        .getByRole('option', { name: /db-1\.sao\.example\.org/ })
        .first()
        .waitFor()
      await page.keyboard.press('Enter')
      await page.getByRole('heading', { level: 1, name: 'db-1.sao.example.org' }).waitFor()
      await page.goto('/console/')
      await settle(page)
    }
  })
})
