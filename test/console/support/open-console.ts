// A hub with its console, and a browser in front of it.

import assert from 'node:assert/strict'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { AdminReplies } from '../../../src/protocol/admin/operations.ts'
import type { AdminRole } from '../../../src/protocol/admin/roles.ts'
import { packConsole } from '../../../tools/build/console-bundle.ts'
import { placeConsole } from '../../../tools/build/place-console.ts'
import { startDevCa } from '../../support/dev-ca.ts'
import { type TestHub, WITH_ADMIN_PORT } from '../../support/hub.ts'
import type { Variables } from '../../support/processes.ts'
import { startTestHub } from '../../support/test-hub.ts'
import { launchBrowser, type Misdeeds, openContext, type Theme } from './console-browser.ts'

export interface OpenConsole extends AsyncDisposable {
  readonly hub: TestHub
  readonly browser: Browser
  /** Of the admin port. */
  readonly origin: string
  /** The text of an admin token that is new. */
  makeToken(name: string, role: AdminRole): Promise<string>
  /** A browser of a person of their own, in which nobody is signed in. */
  openPerson(theme?: Partial<Theme>): Promise<Person>
  /** The same, signed in by a new token of that role. */
  signIn(role: AdminRole, theme?: Partial<Theme>): Promise<SignedInPerson>
}

export interface Person extends AsyncDisposable {
  readonly context: BrowserContext
  readonly page: Page
  readonly misdeeds: Misdeeds
  /** Fails with what its pages did that no page may do. */
  assertBlameless(): void
}

export interface SignedInPerson extends Person {
  /** Of the admin token. */
  readonly tokenName: string
}

export async function openConsole(
  environment: Variables = {},
  caOptions: Parameters<typeof startDevCa>[0] = {},
): Promise<OpenConsole> {
  await using opened = new AsyncDisposableStack()
  await placeConsole(await packConsole())
  const ca = opened.use(await startDevCa(caOptions))
  const hub = opened.use(
    await startTestHub({
      caEnvironment: ca.environment,
      environment: { ...WITH_ADMIN_PORT, SVC_SERVER_CN: 'localhost', ...environment },
    }),
  )
  const browser = await launchBrowser()
  opened.defer(() => browser.close())
  const kept = opened.move()
  const origin = `https://localhost:${hub.ports.admin}`
  let tokens = 0

  const makeToken = async (name: string, role: AdminRole): Promise<string> => {
    const request = { name, role, ttl_seconds: 3600 }
    const made = await hub.admin<AdminReplies['createAccessToken']>(
      'POST',
      '/v1/admin/admin-tokens',
      request,
    )
    return made.token
  }
  const openPerson = async (theme: Partial<Theme> = {}): Promise<Person> => {
    const { context, misdeeds } = await openContext(browser, origin, theme)
    return {
      context,
      misdeeds,
      page: await context.newPage(),
      assertBlameless: () => {
        assert.deepEqual(misdeeds, { reports: [], foreignRequests: [], errors: [] })
      },
      [Symbol.asyncDispose]: () => context.close(),
    }
  }
  return {
    hub,
    browser,
    origin,
    makeToken,
    openPerson,
    signIn: async (role, theme) => {
      tokens += 1
      const tokenName = `${role}-${tokens}`
      const token = await makeToken(tokenName, role)
      const person = await openPerson(theme)
      await person.page.goto('/console/')
      await enterToken(person.page, token)
      await person.page.waitForSelector('#main h1, header h1')
      return { ...person, tokenName }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

export async function enterToken(page: Page, token: string): Promise<void> {
  await page.getByLabel('Admin token').fill(token)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
