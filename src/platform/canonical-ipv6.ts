import { isIP } from 'node:net'

/**
 * The one spelling that stands for all those of an IPv6 address, the one that URLs use; every other name as it is,
 * since whether case matters in it is for the caller to say. A zone id means something on one host only, so an
 * address with one has no spelling but its own.
 */
export function canonicalIpv6(name: string): string {
  if (isIP(name) !== 6 || name.includes('%')) return name
  return new URL(`http://[${name}]`).hostname.slice(1, -1)
}
