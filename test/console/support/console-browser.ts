// Debian's Chromium, driven: what a page of the console did beside what it shows is gathered, since none of it may happen.

import { hash, type X509Certificate } from 'node:crypto'
import {
  type Browser,
  type BrowserContext,
  chromium,
  type Page,
  type Request,
} from 'playwright-core'
import { BROWSER_FLAGS, findBrowser } from '../../support/browser.ts'

export interface Misdeeds {
  /** Reports of the content policy and of Trusted Types. */
  readonly reports: string[]
  /** Requests to another origin than the console's. */
  readonly foreignRequests: string[]
  /** What nobody caught, and what the page wrote as an error. */
  readonly errors: string[]
}

export interface Theme {
  readonly theme: 'dark' | 'light'
  readonly widthPx: number
}

export interface Trust {
  /** Its browser sees no fault in the hub's certificate. */
  readonly isTrusted: boolean
}

export interface Zone {
  readonly timezoneId: string
}

export const THEMES: readonly Theme[] = (['dark', 'light'] as const).flatMap((theme) =>
  [1440, 390].map((widthPx) => ({ theme, widthPx })),
)

export const HEIGHT_PX = 900
/** The hub answers so on purpose, and the page says so. */
const REFUSED = /^Failed to load resource: the server responded with a status of/

/** A server with that certificate it takes as one of the system's roots. One that it only lets in all the same gets no passkey. */
export async function launchBrowser(trusted?: X509Certificate): Promise<Browser> {
  const executablePath = findBrowser()
  if (executablePath === undefined) throw new Error('there is no Chromium on this machine')
  const args = [...BROWSER_FLAGS, ...(trusted === undefined ? [] : [trustFlag(trusted)])]
  return chromium.launch({ executablePath, args, headless: true })
}

function trustFlag({ publicKey }: X509Certificate): string {
  const spki = publicKey.export({ type: 'spki', format: 'der' })
  return `--ignore-certificate-errors-spki-list=${hash('sha256', spki, 'base64')}`
}

/** A browser of a person of their own: cookies and storage are shared by its pages alone. */
export async function openContext(
  browser: Browser,
  origin: string,
  {
    theme = 'dark',
    widthPx = 1440,
    isTrusted = false,
    timezoneId = 'America/Sao_Paulo',
  }: Partial<Theme & Trust & Zone> = {},
): Promise<{ readonly context: BrowserContext; readonly misdeeds: Misdeeds }> {
  const misdeeds: Misdeeds = { reports: [], foreignRequests: [], errors: [] }
  const context = await browser.newContext({
    // The root is one of the hub's own CA.
    ignoreHTTPSErrors: !isTrusted,
    baseURL: origin,
    colorScheme: theme,
    reducedMotion: 'reduce',
    viewport: { width: widthPx, height: HEIGHT_PX },
    locale: 'en-GB',
    timezoneId,
  })
  await context.exposeBinding('gatherReport', (_source, report: string) => {
    misdeeds.reports.push(report)
  })
  await context.addInitScript(`
    addEventListener('securitypolicyviolation', (event) => {
      gatherReport(event.effectiveDirective + ' blocked ' + event.blockedURI + ' ' + event.sample)
    })
  `)
  context.on('page', watchRequests)
  context.on('request', (request) => {
    const url = new URL(request.url())
    if (url.protocol.startsWith('http') && url.origin !== origin) {
      misdeeds.foreignRequests.push(request.url())
    }
  })
  context.on('weberror', (error) => misdeeds.errors.push(String(error.error())))
  context.on('console', (message) => {
    if (message.type() === 'error' && !REFUSED.test(message.text())) {
      misdeeds.errors.push(message.text())
    }
  })
  return { context, misdeeds }
}

const SETTLE_MS_MAX = 15_000
/** Its answer never ends. */
const STREAM = '/v1/admin/changes'
/** What came is drawn, and what that begins has begun: a page that is busy answers late. */
const IDLE = `new Promise((resolve) => {
  requestAnimationFrame(() => requestAnimationFrame(() => requestIdleCallback(resolve)))
})`
/** One frame may stand between an answer and the question that follows from it. */
const IDLE_TIMES = 3

/** Until the page shows a title, and what it asked for has come. */
export async function settle(page: Page): Promise<void> {
  await page.locator('h1', { hasText: /\S/ }).first().waitFor()
  const startedMs = performance.now()
  for (let idle = 0; idle < IDLE_TIMES; idle += 1) {
    if (performance.now() - startedMs > SETTLE_MS_MAX) {
      throw new Error(`${page.url()} still waits for ${listOpenRequests(page).join(' ')}`)
    }
    await page.evaluate(IDLE)
    if (listOpenRequests(page).length > 0) idle = -1
  }
}

/** What a page does in so much time, done now; its context has had its clock installed before the page was loaded. */
export async function passTime(page: Page, ms: number): Promise<void> {
  await page.clock.runFor(ms)
  await settle(page)
}

const openRequests = new WeakMap<Page, Set<Request>>()

/** The addresses of what a page has asked for and not got, but for its stream. */
export function listOpenRequests(page: Page): string[] {
  return Array.from(openRequests.get(page) ?? [], (request) => request.url())
}

function watchRequests(page: Page): void {
  const open = new Set<Request>()
  openRequests.set(page, open)
  page.on('request', (request) => {
    if (new URL(request.url()).pathname !== STREAM) open.add(request)
  })
  page.on('requestfinished', (request) => open.delete(request))
  page.on('requestfailed', (request) => open.delete(request))
}
