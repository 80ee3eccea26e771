// Where mails go, by URL: `smtps://USER@HOST[:PORT]?from=ADDRESS&to=ADDRESS`, `smtp+tls://…` with STARTTLS, `smtp://…` on this machine.
// docs/protocol.md WHK-31.

import { isIP } from 'node:net'
import { isAllowedAddress } from './webhook-addresses.ts'

export interface MailReceiver {
  readonly format: 'mail'
  readonly host: string
  readonly port: number
  readonly security: 'tls' | 'starttls' | 'none'
  /** Undefined where the server asks nobody who they are. */
  readonly user: string | undefined
  readonly from: string
  readonly to: string
}

export type MailVerdict =
  | { readonly ok: true; readonly receiver: MailReceiver; readonly url: string }
  | { readonly ok: false; readonly reason: string }

const SCHEMES = {
  'smtps:': { security: 'tls', port: 465 },
  'smtp+tls:': { security: 'starttls', port: 587 },
  'smtp:': { security: 'none', port: 25 },
} as const
type Scheme = keyof typeof SCHEMES

const URL_CHARACTERS_MAX = 2048
const USER_CHARACTERS_MAX = 254
const ADDRESS_CHARACTERS_MAX = 254
const HOST = /^[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?$/
/** One address, in ASCII, without a name and without quotes: nothing of it means anything else in a header. */
const ADDRESS = /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~.-]{1,64}@[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/
const PRINTABLE = /^[\x21-\x7e]+$/

export function isMailUrl(text: string): boolean {
  return Object.keys(SCHEMES).some((scheme) => text.startsWith(scheme))
}

/** With the URL in its one form. */
export function decideMailUrl(text: string): MailVerdict {
  if (text.length > URL_CHARACTERS_MAX) return refused('it is too long')
  if (!URL.canParse(text)) return refused('it is not a URL')
  const url = new URL(text)
  const { security, port: usualPort } = SCHEMES[url.protocol as Scheme]
  // The log and the lists show URLs; a password in one would be everywhere.
  if (url.password !== '') return refused('it has a password in it')
  if (!['', '/'].includes(url.pathname) || url.hash !== '') {
    return refused('after its host and port it has something else than from and to')
  }
  const host = url.hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  const fault = findHostFault(host, security)
  if (fault !== undefined) return refused(fault)
  const user = userIn(url)
  if (user === null) return refused('its user is not printable ASCII')
  const addresses = addressesIn(url.searchParams)
  if (addresses === undefined) {
    return refused('it needs ?from= and &to=, each one mail address, and nothing else')
  }
  const port = url.port === '' ? usualPort : Number(url.port)
  if (port === 0) return refused('it has no port')
  const receiver = { format: 'mail', host, port, security, user, ...addresses } as const
  return { ok: true, receiver, url: formatUrl(url.protocol, receiver) }
}

function findHostFault(host: string, security: MailReceiver['security']): string | undefined {
  const isAddress = isIP(host) !== 0
  if (!isAddress && !HOST.test(host)) return 'it names no host'
  if (security === 'none' && !isAddress && host !== 'localhost') {
    return 'it is neither smtps nor smtp+tls, and not on this machine'
  }
  if (!isAddress || isAllowedAddress(host, protocolFor(security))) return undefined
  return `the hub does not send to ${host}`
}

/** By whose rules addresses are allowed: what is not encrypted goes to this machine only. */
export function protocolFor(security: MailReceiver['security']): 'http:' | 'https:' {
  return security === 'none' ? 'http:' : 'https:'
}

/** Null for one that is none. */
function userIn({ username }: URL): string | undefined | null {
  if (username === '') return undefined
  try {
    const user = decodeURIComponent(username)
    return user.length <= USER_CHARACTERS_MAX && PRINTABLE.test(user) ? user : null
  } catch {
    return null
  }
}

function addressesIn(query: URLSearchParams): Pick<MailReceiver, 'from' | 'to'> | undefined {
  // In a query `+` is a blank, and in an address it is itself: nobody means the blank.
  const addressOf = (name: string): string => (query.get(name) ?? '').replaceAll(' ', '+')
  const [from, to] = [addressOf('from'), addressOf('to')]
  const isAddress = (text: string): boolean =>
    text.length <= ADDRESS_CHARACTERS_MAX && ADDRESS.test(text)
  return query.size === 2 && isAddress(from) && isAddress(to) ? { from, to } : undefined
}

function formatUrl(scheme: string, { host, port, user, from, to }: MailReceiver): string {
  const shown = isIP(host) === 6 ? `[${host}]` : host
  const name = user === undefined ? '' : `${encodeURIComponent(user)}@`
  const query = [`from=${encodeAddress(from)}`, `to=${encodeAddress(to)}`].join('&')
  return `${scheme}//${name}${shown}:${port}?${query}`
}

/** An `@` in a query means itself. */
function encodeAddress(address: string): string {
  return encodeURIComponent(address).replaceAll('%40', '@')
}

function refused(reason: string): MailVerdict {
  return { ok: false, reason }
}
