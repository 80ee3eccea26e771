// Where webhooks may go: docs/protocol.md WHK. What a name resolves to is looked at when it is connected to.

import { BlockList, isIP } from 'node:net'

export type UrlVerdict =
  | { readonly ok: true; readonly url: URL }
  | { readonly ok: false; readonly reason: string }

const URL_CHARACTERS_MAX = 2048

// Private networks are where most receivers are. These are nobody's: a machine's own neighbourhood, where clouds answer
// whoever asks from within with that machine's credentials, and addresses that are not one machine's.
const REFUSED = new BlockList()
for (const [network, prefix] of [
  ['0.0.0.0', 8],
  ['169.254.0.0', 16],
  ['224.0.0.0', 3],
  // Metadata services outside of the link-local networks: Alibaba, Oracle, Azure.
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
] as const) {
  REFUSED.addSubnet(network, prefix, 'ipv4')
  // The same through a NAT64 of the well-known prefix (RFC 6052).
  REFUSED.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6')
}
REFUSED.addAddress('::', 'ipv6')
REFUSED.addSubnet('fe80::', 10, 'ipv6')
REFUSED.addSubnet('ff00::', 8, 'ipv6')
// AWS (instances, and the pods of EKS) and Google.
for (const address of ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254']) {
  REFUSED.addAddress(address, 'ipv6')
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Without TLS only to this machine itself. */
export function isAllowedAddress(address: string, protocol: string): boolean {
  const plain = address.split('%')[0] ?? ''
  const family = isIP(plain) === 6 ? 'ipv6' : 'ipv4'
  if (isIP(plain) === 0 || REFUSED.check(plain, family)) return false
  return protocol === 'https:' || LOOPBACK.check(plain, family)
}

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
    return refused(`${address} is no address to send to`)
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
