// What a request to the listener of a sign-in is: the callback that it waits for, or none. All who are on this machine, or have a page in the
// browser, can ask there; the state is what they do not have. Pure. docs/protocol.md OID-32.

import type { IncomingHttpHeaders } from 'node:http'

export const CALLBACK_PATH = '/callback'

/** What the provider said by the browser. */
export type Callback =
  | { readonly kind: 'code'; readonly code: string; readonly iss: string | undefined }
  /** In the words of the provider, which anybody may have written. */
  | { readonly kind: 'refused'; readonly error: string; readonly description: string }

export interface AskedCallback {
  readonly method: string | undefined
  /** Path and query. */
  readonly target: string | undefined
  readonly headers: IncomingHttpHeaders
}

export interface WantedCallback {
  readonly port: number
  readonly state: string
}

/** Of a state that somebody seals, and of codes as large providers make them. */
const TARGET_CHARACTERS_MAX = 16 * 1024

export function judgeCallback(
  { method, target = '', headers }: AskedCallback,
  wanted: WantedCallback,
): Callback | undefined {
  // A name that somebody has made lead here would be another origin’s.
  if (method !== 'GET' || headers.host !== `127.0.0.1:${wanted.port}`) return undefined
  if (!isNavigation(headers) || target.length > TARGET_CHARACTERS_MAX) return undefined
  const [path, query = ''] = target.split('?', 2)
  return path === CALLBACK_PATH ? readCallback(query, wanted.state) : undefined
}

/** Each field once, and the state that was begun. */
export function readCallback(query: string, state: string): Callback | undefined {
  const fields = new URLSearchParams(query)
  const once = (name: string): string | undefined => {
    const [value, ...others] = fields.getAll(name)
    return others.length === 0 ? value : undefined
  }
  if (once('state') !== state) return undefined
  const [code = '', error = ''] = [once('code'), once('error')]
  if (code !== '' && error === '') return { kind: 'code', code, iss: once('iss') }
  if (error === '' || code !== '') return undefined
  return { kind: 'refused', error, description: once('error_description') ?? '' }
}

/** A browser goes there as to a page; a script of another page, a picture or a frame says that it is one. */
function isNavigation(headers: IncomingHttpHeaders): boolean {
  const mode = headers['sec-fetch-mode']
  const destination = headers['sec-fetch-dest']
  return (
    (mode === undefined || mode === 'navigate') &&
    (destination === undefined || destination === 'document') &&
    headers['sec-purpose'] === undefined
  )
}
