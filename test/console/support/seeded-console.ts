// A seeded fleet in trouble, and a browser in front of its console.

import { readFileSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import type { AdminRole } from '../../../src/protocol/admin/roles.ts'
import { systemClock } from '../../../src/platform/clock.ts'
import { placeBuiltConsole } from '../../support/built-console.ts'
import { type SeededHub, startSeededHub } from '../../../tools/console/seeded-hub.ts'
import { findFreePort } from '../../support/free-port.ts'
import {
  launchBrowser,
  type Misdeeds,
  openContext,
  type Theme,
  type Zone,
} from './console-browser.ts'
import { watchStory } from './failed-story.ts'

const SEED = 7

export interface SeededConsole extends AsyncDisposable {
  readonly hub: SeededHub
  readonly browser: Browser
  /** A browser of a person of their own, on the overview. */
  signIn(role?: AdminRole, theme?: Partial<Theme & Zone>): Promise<SeededPerson>
}

export interface SeededPerson extends AsyncDisposable {
  readonly context: BrowserContext
  readonly page: Page
  readonly misdeeds: Misdeeds
}

export async function openSeededConsole(
  hosts: number,
  {
    isHostile = false,
    keptDirectory,
  }: { readonly isHostile?: boolean; readonly keptDirectory?: string | undefined } = {},
): Promise<SeededConsole> {
  await using opened = new AsyncDisposableStack()
  await placeBuiltConsole()
  const port = await findFreePort()
  const hub = opened.use(
    await startSeededHub({
      hosts,
      seed: SEED,
      isHostile,
      keptDirectory,
      port,
      clock: systemClock,
      progress: () => undefined,
    }),
  )
  const browser = await launchBrowser()
  opened.defer(() => browser.close())
  const kept = opened.move()
  let people = 0
  return {
    hub,
    browser,
    signIn: async (role = 'viewer', theme = {}) => {
      const { context, misdeeds } = await openContext(browser, hub.url, theme)
      const close = watchStory(context, () => readFileSync(hub.logPath, 'utf8'))
      const page = await context.newPage()
      people += 1
      await page.goto(await hub.makeLink({ name: `${role}-${people}`, role, valid_seconds: 600 }))
      await page.waitForURL(`${hub.url}/console/`)
      return { context, page, misdeeds, [Symbol.asyncDispose]: close }
    },
    [Symbol.asyncDispose]: () => kept.disposeAsync(),
  }
}
