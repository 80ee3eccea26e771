// A hub with its console, and a browser in front of it.

import assert from 'node:assert/strict'
import type { X509Certificate } from 'node:crypto'
import { connect } from 'node:tls'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { AdminReplies } from '../../../src/protocol/admin/operations.ts'
import type { AdminRole } from '../../../src/protocol/admin/roles.ts'
import { SESSION_ROUTE, type StartedSession } from '../../../src/protocol/admin/sessions.ts'
import { placeBuiltConsole } from '../../support/built-console.ts'
import { startDevCa } from '../../support/dev-ca.ts'
import { type TestHub, WITH_ADMIN_PORT } from '../../support/hub.ts'
import type { Variables } from '../../support/processes.ts'
import { createTestHub } from '../../support/test-hub.ts'
import {
  launchBrowser,
  type Misdeeds,
  openContext,
  type Theme,
  type Trust,
} from './console-browser.ts'
import { watchStory } from './failed-story.ts'

export interface OpenConsole extends AsyncDisposable {
  readonly hub: TestHub
  readonly browser: Browser
  /** Of the admin port. */
  readonly origin: string
  /** The text of an admin token that is new. */
  makeToken(name: string, role: AdminRole): Promise<string>
  /** A browser of a person of their own, in which nobody is signed in. */
  openPerson(theme?: Partial<Theme & Trust>): Promise<Person>
  /** The same, signed in by a new token of that role. */
  signIn(role: AdminRole, theme?: Partial<Theme & Trust>): Promise<SignedInPerson>
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
  /** What its vault is to have before the hub starts for the first time. */
  prepare: (hub: TestHub) => Promise<void> = () => Promise.resolve(),
): Promise<OpenConsole> {
  await using opened = new AsyncDisposableStack()
  await placeBuiltConsole()
  const ca = opened.use(await startDevCa(caOptions))
  const hub = opened.use(
    await createTestHub({
      caEnvironment: ca.environment,
      environment: { ...WITH_ADMIN_PORT, SVC_SERVER_CN: 'localhost', ...environment },
    }),
  )
  await prepare(hub)
  await hub.start()
  const browser = await launchBrowser(await findCertificate(hub.ports.admin ?? 0))
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
  const openPerson = async (theme: Partial<Theme & Trust> = {}): Promise<Person> => {
    const { context, misdeeds } = await openContext(browser, origin, theme)
    return {
      context,
      misdeeds,
      page: await context.newPage(),
      assertBlameless: () => {
        assert.deepEqual(misdeeds, { reports: [], foreignRequests: [], errors: [] })
      },
      [Symbol.asyncDispose]: watchStory(context, () => hub.logText()),
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
      await enterSession(person, token)
      await person.page.goto('/console/')
      await person.page.waitForSelector('#main h1, header h1')
      return { ...person, tokenName }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}

function findCertificate(port: number): Promise<X509Certificate | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false }, () => {
      resolve(socket.getPeerX509Certificate())
      socket.destroy()
    })
    socket.on('error', reject)
  })
}

/** As the form does, in a fourth of its time: test/console/sign-in.test.ts has the form. */
async function enterSession({ context, page }: Person, token: string): Promise<void> {
  const started = await context.request.post(SESSION_ROUTE.path, {
    headers: { authorization: `Bearer ${token}`, 'sec-fetch-site': 'same-origin' },
    data: {},
    // A browser that trusts this hub alone does not tell the client of the tests.
    ignoreHTTPSErrors: true,
  })
  assert.ok(started.ok(), await started.text())
  const { secret } = (await started.json()) as StartedSession
  // Of the same origin, and nothing runs there.
  await page.goto('/console/assets/none')
  await page.evaluate(`localStorage.setItem('cartorio.session', ${JSON.stringify(secret)})`)
}

export async function enterToken(page: Page, token: string): Promise<void> {
  await page.getByLabel('Admin token').fill(token)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
}
