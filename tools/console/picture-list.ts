// The screens that have a picture in docs/console/. A screen that is new is a row here.

import type { Page } from 'playwright-core'

export interface Picture {
  /** Of its files: `hosts-dark-1440.png`. */
  readonly name: string
  /** Below /console. */
  readonly path: string
  /** Before anybody has signed in. */
  readonly isSignedOut?: boolean
  /** What is done before the picture is taken. */
  readonly prepare?: (page: Page) => Promise<void>
  /** All of the screen, however long; otherwise what is in the window. */
  readonly isWhole?: boolean
}

export const PICTURES: readonly Picture[] = [
  { name: 'sign-in', path: '/', isSignedOut: true },
  { name: 'overview', path: '/', isWhole: true },
  { name: 'hosts', path: '/hosts' },
  {
    name: 'host',
    path: '/',
    isWhole: true,
    prepare: async (page) => {
      await page.getByRole('link', { name: 'Open host' }).first().click()
      await page.waitForURL('**/console/hosts/*')
    },
  },
]
