import { isIP } from 'node:net'
import { canonicalIpv6 } from '../../../platform/canonical-ipv6.ts'

/** Who counts as one caller where addresses are counted. docs/protocol.md LIM-25. */
export interface Caller {
  /** An IPv4 address, or the /64 of an IPv6 one: a host that has one of its addresses has them all. */
  readonly key: string
  /** The /48 of an IPv6 address, which is what a site is given; IPv4 has none. */
  readonly siteKey: string | undefined
}

/** A /48 may have as much as so many of its /64s, since other hosts may live there too. */
export const SITE_SHARES = 4

const GROUPS = 8
/** Where a proxy that is believed names something else than an address. */
const NAME_CHARACTERS_MAX = 64

export function callerOf(address: string | undefined): Caller {
  const plain = address?.split('%', 1)[0] ?? ''
  if (isIP(plain) !== 6) return { key: plain.slice(0, NAME_CHARACTERS_MAX), siteKey: undefined }
  const groups = groupsOf(plain)
  if (isMappedIpv4(groups)) return { key: ipv4Of(groups), siteKey: undefined }
  return {
    key: `${groups.slice(0, 4).join(':')}::/64`,
    siteKey: `${groups.slice(0, 3).join(':')}::/48`,
  }
}

function groupsOf(ipv6: string): string[] {
  const [before = '', after] = canonicalIpv6(ipv6).split('::')
  const [first, last] = [groupsIn(before), groupsIn(after ?? '')]
  const zeros = Array<string>(GROUPS - first.length - last.length).fill('0')
  return [...first, ...zeros, ...last]
}

function groupsIn(text: string): string[] {
  return text === '' ? [] : text.split(':')
}

/** RFC 4291 2.5.5.2: how a listener on all addresses shows IPv4 peers. */
function isMappedIpv4(groups: readonly string[]): boolean {
  return groups[5] === 'ffff' && groups.slice(0, 5).every((group) => group === '0')
}

function ipv4Of(groups: readonly string[]): string {
  const bytes = groups.slice(6).flatMap((group) => {
    const value = Number.parseInt(group, 16)
    return [value >> 8, value & 0xff]
  })
  return bytes.join('.')
}
