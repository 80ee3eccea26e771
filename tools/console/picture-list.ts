// The screens that have a picture in docs/console/. A screen that is new is a row here.

import type { Page } from 'playwright-core'

export interface Picture {
  /** Of its files: `hosts-dark-1440.png`. */
  readonly name: string
  /** Below /console. */
  readonly path: string
  /** Before anybody has signed in. */
  readonly isSignedOut?: boolean
  /** What is done before the picture is taken; it holds in every language. */
  readonly prepare?: (page: Page) => Promise<void>
  /** As long as the screen is, up to this; otherwise what is in the window. */
  readonly longPx?: number
}

export const PICTURES: readonly Picture[] = [
  { name: 'sign-in', path: '/', isSignedOut: true },
  { name: 'overview', path: '/', longPx: 4500 },
  { name: 'find', path: '/', prepare: find('web-1') },
  { name: 'hosts', path: '/hosts' },
  {
    name: 'host',
    path: '/deliveries?status=falhou&q=web-',
    longPx: 3000,
    prepare: async (page) => {
      await follow('main table tr:has-text("site v7") a')(page)
      await follow('dialog a[href*="/hosts/"]')(page)
    },
  },
  { name: 'cargoes', path: '/cargo' },
  { name: 'cargo', path: '/cargo', prepare: follow('main table a[href*="/cargo/"]') },
  { name: 'seal', path: '/cargo/seal' },
  { name: 'deliveries', path: '/deliveries' },
  { name: 'rollouts', path: '/rollouts' },
  {
    name: 'rollout',
    path: '/rollouts',
    longPx: 1400,
    prepare: follow('main table a[href*="/rollouts/"]'),
  },
  { name: 'policies', path: '/policies' },
  { name: 'policy', path: '/policies/web', longPx: 1400 },
  { name: 'enrolment', path: '/enrolment' },
  {
    name: 'audit',
    path: '/audit?type=politica_set',
    longPx: 1360,
    prepare: async (page) => {
      // The same entry, among all others.
      const href = await page.locator('main table tbody a').first().getAttribute('href')
      await page.goto(href?.split('?')[0] ?? '')
      await page.locator('.detail .diff').waitFor()
      await page.locator('.proof progress').waitFor({ state: 'detached' })
    },
  },
  { name: 'evidence', path: '/evidence?type=politica_set' },
  { name: 'roots', path: '/roots' },
  { name: 'revocations', path: '/revocations' },
  { name: 'webhooks', path: '/webhooks' },
  { name: 'webhook', path: '/webhooks', prepare: follow('main table a[href*="/webhooks/"]') },
  { name: 'access', path: '/access' },
  { name: 'certificates', path: '/certificates' },
  { name: 'hub', path: '/hub', longPx: 1600 },
]

function follow(link: string): (page: Page) => Promise<void> {
  return async (page) => {
    const first = page.locator(link).first()
    const href = await first.getAttribute('href')
    await first.click()
    await page.waitForURL((url) => url.pathname + url.search === href)
  }
}

function find(typed: string): (page: Page) => Promise<void> {
  return async (page) => {
    await page.keyboard.press('Control+k')
    await page.getByRole('combobox').fill(typed)
    await page.locator('.find-dialog [role="option"]').first().waitFor()
  }
}
