// `npm run console:pictures`: the screens of the console as pictures in docs/console/, of a fleet that is the same each time, at a time that
// is the same each time.

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BrowserContext } from 'playwright-core'
import { createChance } from '../../fleet/seeded-chance.ts'
import { type Clock, systemClock } from '../../src/platform/clock.ts'
import { UserError } from '../../src/platform/errors.ts'
import { runProgram } from '../../src/platform/program.ts'
import type { AdminFleetSummary } from '../../src/protocol/admin/fleet-summary.ts'
import {
  launchBrowser,
  openContext,
  settle,
  type Theme,
  THEMES,
} from '../../test/console/support/console-browser.ts'
import { findFreePort } from '../../test/support/free-port.ts'
import { packConsole } from '../build/console-bundle.ts'
import { placeConsole } from '../build/place-console.ts'
import { parseCommandOptions } from '../command-options.ts'
import { ROOT } from '../source-files.ts'
import { type Picture, PICTURES } from './picture-list.ts'
import { type SeededHub, startSeededHub } from './seeded-hub.ts'
import { shrinkPng } from './shrink-png.ts'

const DIRECTORY = join(ROOT, 'docs/console')
const SEED = 7
const HOSTS = 1284
const MINUTES = 60
const LATE_MS_MAX = 120_000
const BYTES_MAX = 150_000
/** A night from Saturday to Sunday, 03:12 in São Paulo. */
const AT = new Date('2026-11-22T06:12:31Z')
const HELP = `Usage: npm run console:pictures -- [options] [NAME ...]

The screens of the console in both themes and two widths, as pictures: ${PICTURES.map(({ name }) => name).join(', ')}.

Options:
  --directory=DIR  where they go (default: docs/console)
  --language=TAG   of the screens: en or pt-BR (default: en)
  -h, --help       print this

Examples:
  npm run console:pictures -- overview
  npm run console:pictures -- --language=pt-BR --directory=/tmp/screens
`

await runProgram('console:pictures', async () => {
  const names = process.argv.slice(2).filter((word) => !word.startsWith('-'))
  const chosen = parseCommandOptions({
    name: 'console:pictures',
    args: process.argv.slice(2).filter((word) => word.startsWith('-')),
    options: {
      directory: { type: 'string', default: DIRECTORY },
      language: { type: 'string', default: 'en' },
    },
    help: HELP,
  })
  if (chosen === undefined) return
  const { directory, language } = chosen
  const wanted = PICTURES.filter(({ name }) => names.length === 0 || names.includes(name))
  if (wanted.length === 0) {
    throw new UserError('usage', 'no picture has that name', {
      hint: 'npm run console:pictures -- --help',
    })
  }
  await mkdir(directory, { recursive: true })
  await placeConsole(await packConsole())
  // The hub's clock stands still, so that what is shown does not depend on how long it took.
  const clock: Clock = {
    now: () => AT,
    sleep: (durationMs, signal) => systemClock.sleep(durationMs, signal),
  }
  await using hub = await startSeededHub({
    hosts: HOSTS,
    seed: SEED,
    isHostile: false,
    port: await findFreePort(),
    clock,
    progress: (text) => void process.stderr.write(`console:pictures: ${text}\n`),
  })
  const browser = await launchBrowser()
  try {
    const people: [Theme, BrowserContext][] = []
    for (const theme of THEMES) {
      const { context } = await openContext(browser, hub.url, theme)
      await standStill(context, language)
      await addLastHour(context)
      for (const picture of wanted.filter(({ isSignedOut }) => isSignedOut)) {
        await take(context, picture, { theme, directory })
      }
      await signIn(context, hub)
      people.push([theme, context])
    }
    // All that the log will have is in it before the first picture.
    await waitForLateHosts(people[0]?.[1])
    for (const [theme, context] of people) {
      for (const picture of wanted.filter(({ isSignedOut }) => !isSignedOut)) {
        await take(context, picture, { theme, directory })
      }
      await context.close()
    }
  } finally {
    await browser.close()
  }
})

/** The page's clock, and that of the hub's answers, which Node sets by the machine's. */
async function standStill(context: BrowserContext, language: string): Promise<void> {
  await context.clock.setFixedTime(AT)
  await context.addInitScript(`
    localStorage.setItem('cartorio.language', ${JSON.stringify(language)})
    const get = Headers.prototype.get
    Headers.prototype.get = function (name) {
      return name.toLowerCase() === 'date' ? ${JSON.stringify(AT.toUTCString())} : get.call(this, name)
    }
  `)
}

/** A hub that has just started has no hour behind it: this is one as a fleet of that size has it. */
async function addLastHour(context: BrowserContext): Promise<void> {
  await context.route('**/v1/admin/fleet/summary*', async (route) => {
    // The hub wants to be told that the page is its own, and a request that was held no longer says so.
    const headers = { ...route.request().headers(), 'sec-fetch-site': 'same-origin' }
    const response = await route.fetch({ headers })
    const summary = (await response.json()) as AdminFleetSummary
    const chance = createChance(SEED)
    const hour = (middle: number, spread: number): number[] =>
      Array.from({ length: MINUTES }, () => chance.around(middle, spread))
    const samples: AdminFleetSummary['samples'] = {
      since: new Date(AT.getTime() - 5 * 86_400_000).toISOString(),
      until: AT.toISOString(),
      interval_seconds: 60,
      requests_per_second: hour(61, 4),
      request_p99_ms: hour(6, 1),
      ca_median_ms: hour(40, 5),
      ca_p99_ms: hour(148, 22),
      connected: hour(1259, 2).map((count) => Math.round(count)),
      busy_percent: hour(11, 2),
    }
    await route.fulfill({ response, json: { ...summary, samples } })
  })
}

async function signIn(context: BrowserContext, hub: SeededHub): Promise<void> {
  const page = await context.newPage()
  await page.goto(await hub.makeLink({ name: 'oncall', valid_seconds: 600 }))
  await page.waitForURL(`${hub.url}/console/`)
  await settle(page)
  await page.close()
}

/** The hub notes them by itself, some time after its start. */
async function waitForLateHosts(context: BrowserContext | undefined): Promise<void> {
  const page = await context?.newPage()
  if (page === undefined) return
  const deadlineMs = performance.now() + LATE_MS_MAX
  do {
    await page.goto('/console/audit?type=certificate_late')
    await settle(page)
  } while (
    (await page.locator('main table tbody a').count()) === 0 &&
    performance.now() < deadlineMs
  )
  await page.close()
}

async function take(
  context: BrowserContext,
  picture: Picture,
  { theme, directory }: { readonly theme: Theme; readonly directory: string },
): Promise<void> {
  const page = await context.newPage()
  await page.goto(`/console${picture.path}`)
  await settle(page)
  if (picture.prepare !== undefined) {
    await picture.prepare(page)
    await settle(page)
  }
  if (picture.longPx !== undefined) {
    // What stands beside a long screen and below it is as long.
    const wholePx = await page.evaluate<number>('document.documentElement.scrollHeight')
    const height = Math.min(wholePx, picture.longPx)
    await page.setViewportSize({ width: theme.widthPx, height })
    await page.evaluate('scrollTo(0, 0)')
    await settle(page)
  }
  const png = await page.screenshot({ caret: 'hide' })
  const small = shrinkPng(png)
  const name = `${picture.name}-${theme.theme}-${theme.widthPx}.png`
  await writeFile(join(directory, name), small)
  await page.close()
  const note = small.length > BYTES_MAX ? `, over ${BYTES_MAX / 1000} kB` : ''
  process.stdout.write(`${name} ${Math.round(small.length / 1000)} kB${note}\n`)
  if (note !== '') process.exitCode = 1
}
