// Serves the page on this machine, has a browser open it, and answers what the page reports.

import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { openInBrowser } from '../../support/browser.ts'
import type { PageCase, PageReport, PageResult } from './page.ts'

export interface BrowserCase extends Omit<PageCase, 'path'> {
  readonly bytes: Buffer
}

const REPORT_MS = 60_000
/** As strict as a page can be: nothing that the server did not send, and no code made of text. */
const POLICY = "default-src 'none'; script-src 'self'; connect-src 'self'"
const PAGE = '<!doctype html><script type="module" src="/page.js"></script>'

/** In the order of the cases. */
export async function runInBrowser(
  cases: readonly BrowserCase[],
): Promise<{ readonly agent: string; readonly results: readonly PageResult[] }> {
  const script = await bundlePage()
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const deadline = new AbortController()
  try {
    const reported = new Promise<PageReport>((resolve) => {
      server.on('request', answerWith(script, cases, resolve))
    })
    const { port } = server.address() as AddressInfo
    await using browser = await openInBrowser(`http://127.0.0.1:${port}/`)
    const late = sleep(REPORT_MS, undefined, { signal: deadline.signal })
    const report = await Promise.race([reported, browser.failed, late])
    if (report === undefined) throw new Error(`the page said nothing for ${REPORT_MS} ms`)
    if ('error' in report) throw new Error(report.error)
    return report
  } finally {
    deadline.abort()
    server.close()
    server.closeAllConnections()
  }
}

function answerWith(
  script: string,
  cases: readonly BrowserCase[],
  report: (report: PageReport) => void,
): RequestListener {
  const told = cases.map(({ key, kept, isFile }, at) => ({ key, kept, isFile, path: `/log/${at}` }))
  const files = new Map<string, readonly [type: string, body: string | Buffer]>([
    ['/', ['text/html', PAGE]],
    ['/page.js', ['text/javascript', script]],
    ['/cases', ['application/json', JSON.stringify(told)]],
    ...cases.map(({ bytes }, at) => [`/log/${at}`, ['application/octet-stream', bytes]] as const),
  ])
  return (request, response) => {
    const { url = '', method } = request
    if (method === 'POST') {
      json(request).then(
        (body) => report(body as PageReport),
        (error: unknown) => report({ error: String(error) }),
      )
    }
    const [type, body] = files.get(url) ?? ['text/plain', '']
    response.setHeader('content-security-policy', POLICY)
    response.setHeader('content-type', type).end(body)
  }
}

async function bundlePage(): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [fileURLToPath(new URL('page.ts', import.meta.url))],
    bundle: true,
    format: 'esm',
    platform: 'browser',
    target: 'chrome137',
    write: false,
  })
  return outputFiles[0]?.text ?? ''
}
