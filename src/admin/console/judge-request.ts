// What a request to the console of svc may be at all, before it is looked at who asks. A browser says truly which host it was sent to and
// which page asks; no page can have it say something else. Pure. docs/protocol.md LOC-2, LOC-3.

import type { IncomingHttpHeaders } from 'node:http'
import {
  SESSION_COOKIE,
  SESSION_COOKIE_PREFIX,
  SESSION_HEADER,
  SESSION_SECRET_PREFIX,
} from '../../protocol/admin/sessions.ts'
import type { SessionHalves } from './local-sessions.ts'

const COOKIE_HALF = new RegExp(`^${SESSION_COOKIE_PREFIX}[\\w-]{43}$`)
const SECRET_HALF = new RegExp(`^${SESSION_SECRET_PREFIX}[\\w-]{43}$`)
const BEARER = /^Bearer ([\w-]{1,128})$/i

/** A cookie goes to all ports of a host: with the port in its name a hub on this machine, or a second svc, keeps its own. */
export function cookieNameAt(port: number): string {
  return `${SESSION_COOKIE}-${port}`
}

/** A name that somebody else has made lead here would show our pages under that name. */
export function isForUs(headers: IncomingHttpHeaders, port: number): boolean {
  return headers.host === `127.0.0.1:${port}` || headers.host === `localhost:${port}`
}

/** Whether a page asks that this very port served. */
export function isOfOwnPage(headers: IncomingHttpHeaders): boolean {
  const { origin } = headers
  const isOwnOrigin = origin === undefined || origin === `http://${headers.host ?? ''}`
  return isOwnOrigin && headers['sec-fetch-site'] === 'same-origin'
}

/** Undefined unless each half is there, once. */
export function readHalves(headers: IncomingHttpHeaders, port: number): SessionHalves | undefined {
  const secret = headers[SESSION_HEADER]
  const [cookie, ...others] = readCookies(headers.cookie, cookieNameAt(port))
  if (typeof secret !== 'string' || !SECRET_HALF.test(secret)) return undefined
  if (cookie === undefined || others.length > 0 || !COOKIE_HALF.test(cookie)) return undefined
  return { cookie, secret }
}

export function readBearer({ authorization = '' }: IncomingHttpHeaders): string {
  return BEARER.exec(authorization)?.[1] ?? ''
}

function readCookies(header = '', name: string): readonly string[] {
  const begin = `${name}=`
  return header
    .split(';')
    .map((each) => each.trim())
    .filter((each) => each.startsWith(begin))
    .map((each) => each.slice(begin.length))
}
