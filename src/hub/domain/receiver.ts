// Where the hub sends entries, and in which form: the scheme of a webhook's URL says it. docs/protocol.md WHK-21.

import { isIP } from 'node:net'
import { decideMailUrl, isMailUrl, type MailReceiver } from './mail-address.ts'
import { isAllowedAddress } from './webhook-addresses.ts'
import { decideWebhookUrl } from './webhook-url.ts'

export type Receiver =
  | { readonly format: HttpFormat; readonly url: URL }
  | MailReceiver
  | { readonly format: 'syslog'; readonly host: string; readonly port: number }

type HttpFormat = 'webhook' | 'otlp' | 'slack' | 'teams'

export type ReceiverVerdict =
  | { readonly ok: true; readonly receiver: Receiver; readonly url: string }
  | { readonly ok: false; readonly reason: string }

/** Before https, for all but the form of Standard Webhooks. */
const PREFIXES = { 'otlp+': 'otlp', 'slack+': 'slack', 'teams+': 'teams' } as const
const OTLP_PATH = '/v1/logs'
const SYSLOG_PROTOCOL = 'syslog+tls:'
/** RFC 5425, 4.1. */
const SYSLOG_PORT = 6514

/** With the URL in its one form. */
export function decideReceiver(text: string): ReceiverVerdict {
  if (text.startsWith(SYSLOG_PROTOCOL)) return decideSyslog(text)
  if (isMailUrl(text)) return decideMailUrl(text)
  const prefix = prefixOf(text)
  const verdict = decideWebhookUrl(text.slice(prefix.length))
  if (!verdict.ok) return verdict
  const { url } = verdict
  const format = prefix === '' ? 'webhook' : PREFIXES[prefix]
  if (format === 'otlp' && url.pathname === '/') url.pathname = OTLP_PATH
  return { ok: true, receiver: { format, url }, url: prefix + url.href }
}

function prefixOf(text: string): keyof typeof PREFIXES | '' {
  const prefixes = Object.keys(PREFIXES) as (keyof typeof PREFIXES)[]
  return prefixes.find((prefix) => text.startsWith(prefix)) ?? ''
}

/** Of a URL that was decided on when the webhook was made. */
export function receiverOf(url: string): Receiver {
  const verdict = decideReceiver(url)
  if (verdict.ok) return verdict.receiver
  throw new Error(`the hub no longer sends to this URL: ${verdict.reason}`)
}

function decideSyslog(text: string): ReceiverVerdict {
  if (!URL.canParse(text)) return refused('it is not a URL')
  const url = new URL(text)
  if (url.username !== '' || url.password !== '') return refused('it has credentials in it')
  if (!['', '/'].includes(url.pathname) || url.search !== '' || url.hash !== '') {
    return refused('after its host and port it has something else')
  }
  const host = url.hostname.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  if (isIP(host) === 0 && !/^[a-z0-9]([a-z0-9._-]{0,251}[a-z0-9])?$/.test(host)) {
    return refused('it names no host')
  }
  // Over TLS, so the same addresses as over https.
  if (isIP(host) !== 0 && !isAllowedAddress(host, 'https:')) {
    return refused(`the hub does not send to ${host}`)
  }
  const port = url.port === '' ? SYSLOG_PORT : Number(url.port)
  const shown = isIP(host) === 6 ? `[${host}]` : host
  return {
    ok: true,
    receiver: { format: 'syslog', host, port },
    url: `${SYSLOG_PROTOCOL}//${shown}:${port}`,
  }
}

function refused(reason: string): ReceiverVerdict {
  return { ok: false, reason }
}
