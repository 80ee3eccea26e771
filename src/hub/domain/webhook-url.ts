// Where webhooks may go: docs/protocol.md WHK. What a name resolves to is looked at when it is connected to.

import { isIP } from 'node:net'
import { isAllowedAddress } from './webhook-addresses.ts'

export type UrlVerdict =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly reason: string }

const URL_CHARACTERS_MAX = 2048

export function decideWebhookUrl(text: string): UrlVerdict {
  if (text.length > URL_CHARACTERS_MAX) return refused('it is too long')
  if (!URL.canParse(text)) return refused('it is not a URL')
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return refused('it is not https')
  // The log and the lists show URLs; a password in one would be everywhere.
  if (url.username !== '' || url.password !== '') return refused('it has credentials in it')
  if (url.hash !== '') return refused('it has a fragment')
  const address = addressIn(url)
  if (url.protocol === 'http:' && address === undefined && url.hostname !== 'localhost') {
    return refused('it is not https, and not on this machine')
  }
  if (address !== undefined && !isAllowedAddress(address, url.protocol)) {
    return refused(`the hub does not send to ${address}`)
  }
  return { ok: true, url }
}

/** The address that stands in the place of a name. */
export function addressIn(url: URL): string | undefined {
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  return isIP(host) === 0 ? undefined : host
}

function refused(reason: string): UrlVerdict {
  return { ok: false, reason }
}
