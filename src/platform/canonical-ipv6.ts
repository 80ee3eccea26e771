import { isIP } from 'node:net'

/**
 * The one spelling, as URLs use it, that stands for all spellings of an IPv6 address; every other name stays as it is,
 * because only the caller knows whether case matters in it. A zone id means something on one host only, so an
 * address with one has no spelling but its own.
 */
export function canonicalIpv6(name: string): string {
  // Most names are told by this, for a tenth of what isIP costs.
  if (!name.includes(':')) return name
  if (isIP(name) !== 6 || name.includes('%')) return name
  return new URL(`http://[${name}]`).hostname.slice(1, -1)
}
