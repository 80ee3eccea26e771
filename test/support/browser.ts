// A browser of Debian, without a screen and without a network: it opens one page of this machine.

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startTool } from './processes.ts'
import { findTool, withTools } from './tools.ts'

/** Of the packages chromium-headless-shell, which is the smaller one and whose script in /usr/bin outlives it, and chromium. */
const BROWSERS = ['/usr/lib/chromium/chromium-headless-shell', 'chromium']
const found = BROWSERS.find((name) => findTool(name) !== undefined)

export const WITH_BROWSER: { readonly skip: string | false } = withTools(
  found ?? BROWSERS.join(' or '),
)

const END_MS = 5000

export interface RunningBrowser extends AsyncDisposable {
  /** Rejects when the browser ends by itself, with what it said. */
  readonly failed: Promise<never>
}

/** A program that others drive starts with these too. */
export const BROWSER_FLAGS: readonly string[] = [
  '--disable-gpu',
  '--disable-dev-shm-usage',
  '--disable-breakpad',
  '--no-first-run',
  // It calls home otherwise.
  '--disable-background-networking',
  '--disable-component-update',
  '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost',
  // Root has no sandbox.
  ...(process.getuid?.() === 0 ? ['--no-sandbox'] : []),
]

/** What to start; undefined where there is none. */
export function findBrowser(): string | undefined {
  return found === undefined ? undefined : findTool(found)
}

export async function openInBrowser(url: string): Promise<RunningBrowser> {
  const directory = await mkdtemp(join(tmpdir(), 'browser-'))
  const running = startTool(found ?? 'chromium', [
    '--headless',
    ...BROWSER_FLAGS,
    `--user-data-dir=${directory}`,
    url,
  ])
  const failed = running.ended.then(({ status, signal, stderr }) => {
    throw new Error(`the browser ended with ${status ?? signal}: ${stderr}`)
  })
  failed.catch(() => undefined)
  return {
    failed,
    [Symbol.asyncDispose]: async () => {
      running.kill('SIGTERM')
      const killer = setTimeout(() => running.kill('SIGKILL'), END_MS)
      await Promise.allSettled([running.ended])
      clearTimeout(killer)
      // Its children may still write there for a moment.
      await rm(directory, { recursive: true, force: true, maxRetries: 10 })
    },
  }
}
