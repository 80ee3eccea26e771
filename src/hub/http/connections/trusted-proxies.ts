import type { IncomingMessage } from 'node:http'
import { BlockList, isIP } from 'node:net'

/** Whether an address is a proxy whose `X-Forwarded-For` we believe. */
export type IsTrustedProxy = (address: string) => boolean

/** Addresses and CIDR ranges separated by commas; undefined when one of them is anything else. */
export function parseTrustedProxies(text: string): IsTrustedProxy | undefined {
  const trusted = new BlockList()
  for (const part of text.split(',').map((entry) => entry.trim())) {
    if (part === '') continue
    const [address = '', prefix, ...more] = part.split('/')
    const family = isIP(address)
    if (family === 0 || more.length > 0) return undefined
    const type = family === 6 ? 'ipv6' : 'ipv4'
    const bits = family === 6 ? 128 : 32
    if (prefix === undefined) trusted.addAddress(address, type)
    else if (/^\d{1,3}$/.test(prefix) && Number(prefix) <= bits) {
      trusted.addSubnet(address, Number(prefix), type)
    } else return undefined
  }
  return (address) => {
    // A listener on all addresses shows IPv4 peers as ::ffff:a.b.c.d.
    const plain = address.startsWith('::ffff:') ? address.slice('::ffff:'.length) : address
    const family = isIP(plain)
    return family !== 0 && trusted.check(plain, family === 6 ? 'ipv6' : 'ipv4')
  }
}

/** The client of a request: the nearest address in its chain of proxies that is not a trusted proxy. docs/protocol.md SRF-18. */
export function clientAddressOf(request: IncomingMessage, isTrusted: IsTrustedProxy): string {
  let address = request.socket.remoteAddress ?? ''
  if (!isTrusted(address)) return address
  const forwarded = request.headers['x-forwarded-for']?.toString() ?? ''
  for (const hop of forwarded.split(',').toReversed()) {
    if (hop.trim() === '') continue
    address = hop.trim()
    if (!isTrusted(address)) break
  }
  return address
}
