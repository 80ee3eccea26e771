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
  { name: 'policies', path: '/policies' },
  { name: 'policy', path: '/policies/web', isWhole: true },
  { name: 'enrolment', path: '/enrolment' },
  { name: 'access', path: '/access' },
  { name: 'roots', path: '/roots' },
  { name: 'revocations', path: '/revocations' },
  { name: 'webhooks', path: '/webhooks' },
  { name: 'certificates', path: '/certificates' },
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
