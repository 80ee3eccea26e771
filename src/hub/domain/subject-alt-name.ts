import { isIP } from 'node:net'
import { canonicalIpv6 } from '../../platform/canonical-ipv6.ts'
import { parseHostname } from '../../protocol/identifiers.ts'

/** Whether a name may stand in a carga's `sans`: a DNS name, a leading `*.` allowed, or an IP address. */
export function isSubjectAltName(name: string): boolean {
  // A zone id (fe80::1%eth0) means something on one host only.
  if (isIP(name) !== 0) return !name.includes('%')
  const withoutWildcard = name.startsWith('*.') ? name.slice(2) : name
  return parseHostname(withoutWildcard) !== undefined
}

/** Whether a certificate with `san` would be accepted for the host `name` (RFC 6125: `*` is one left-most label). */
export function coversName(san: string, name: string): boolean {
  if (canonicalIpv6(san).toLowerCase() === canonicalIpv6(name).toLowerCase()) return true
  if (!san.startsWith('*.')) return false
  return (
    name.includes('.') &&
    name.slice(name.indexOf('.') + 1).toLowerCase() === san.slice(2).toLowerCase()
  )
}

/** Whether some host would be accepted by a certificate with the one name, and by one with the other. */
export function sharesHost(one: string, other: string): boolean {
  return coversName(one, other) || coversName(other, one)
}

/** Whether every host that `san` stands for has a name that ends in `.suffix`, at any depth; an address never does. */
export function liesBelow(san: string, suffix: string): boolean {
  return isIP(san) === 0 && san.toLowerCase().endsWith(`.${suffix.toLowerCase()}`)
}
