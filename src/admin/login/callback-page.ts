// What the browser shows at the end of a sign-in: nothing that runs, and nothing that stays. docs/protocol.md OID-32.

import { escapeHtml } from '../../platform/escape-html.ts'

export interface Shown {
  readonly status: number
  readonly title: string
  readonly text: string
}

export const SIGNED_IN: Shown = {
  status: 200,
  title: 'Signed in',
  text: 'You are signed in. Close this tab and go back to the terminal.',
}

export function refusedPage(why: string): Shown {
  return { status: 400, title: 'Not signed in', text: `${why}. The terminal says more.` }
}

export const NOTHING_HERE: Shown = {
  status: 404,
  title: 'Nothing here',
  text: 'svc waits for another address here.',
}

export const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'cache-control': 'no-store',
  'content-security-policy':
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  'content-type': 'text/html; charset=utf-8',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // The listener is gone in a moment.
  connection: 'close',
}

export function renderPage({ title, text }: Shown): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="color-scheme" content="light dark">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
</head>
<body>
<h1>${escapeHtml(title)}</h1>
<p>${escapeHtml(text)}</p>
</body>
</html>
`
}
