// Which addresses webhooks may go to: docs/protocol.md WHK-13.

import { BlockList, isIP } from 'node:net'
import { canonicalIpv6 } from '../../platform/canonical-ipv6.ts'

// Private networks are where most receivers are. No receiver has these: a machine's own neighbourhood, where clouds answer
// any caller on the machine with the machine's credentials, and addresses that do not belong to one machine.
const NEIGHBOURHOOD = [
  ['169.254.0.0', 16],
  // Metadata services outside of the link-local networks: Alibaba, Oracle, Azure.
  ['100.100.100.200', 32],
  ['192.0.0.192', 32],
  ['168.63.129.16', 32],
] as const
const NOT_ONE_MACHINE = [
  ['0.0.0.0', 8],
  ['224.0.0.0', 3],
] as const

const REFUSED = new BlockList()
for (const [network, prefix] of [...NEIGHBOURHOOD, ...NOT_ONE_MACHINE]) {
  REFUSED.addSubnet(network, prefix, 'ipv4')
  // The same through a NAT64 of the well-known prefix (RFC 6052).
  REFUSED.addSubnet(`64:ff9b::${network}`, 96 + prefix, 'ipv6')
}
REFUSED.addSubnet('fe80::', 10, 'ipv6')
REFUSED.addSubnet('ff00::', 8, 'ipv6')
// Ways to an IPv4 address that are no longer gone, so no receiver is there: compatible (and `::`), translated, Teredo, 6to4.
REFUSED.addSubnet('::', 96, 'ipv6')
REFUSED.addSubnet('::ffff:0:0:0', 96, 'ipv6')
REFUSED.addSubnet('2001::', 32, 'ipv6')
REFUSED.addSubnet('2002::', 16, 'ipv6')
// AWS (instances, and the pods of EKS) and Google.
for (const address of ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254']) {
  REFUSED.addAddress(address, 'ipv6')
}

/** RFC 8215: a NAT64 of one's own has its prefix in here, of a length that only it knows. */
const LOCAL_NAT64 = new BlockList()
LOCAL_NAT64.addSubnet('64:ff9b:1::', 48, 'ipv6')
/**
 * A local prefix may have several lengths, so the hub reads an address behind it at each possible place: it refuses there only
 * the addresses that are worth a detour to an attacker, so that it refuses no honest address.
 */
const REFUSED_BEHIND_NAT64 = new BlockList()
for (const [network, prefix] of NEIGHBOURHOOD) {
  REFUSED_BEHIND_NAT64.addSubnet(network, prefix, 'ipv4')
}

const LOOPBACK = new BlockList()
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4')
LOOPBACK.addAddress('::1', 'ipv6')

/** Without TLS only to this machine itself. */
export function isAllowedAddress(address: string, protocol: string): boolean {
  const plain = address.split('%')[0] ?? ''
  const version = isIP(plain)
  if (version === 0) return false
  const family = version === 6 ? 'ipv6' : 'ipv4'
  if (LOOPBACK.check(plain, family)) return true
  return protocol === 'https:' && !REFUSED.check(plain, family) && !isRefusedBehindNat64(plain)
}

/** Where RFC 6052 (2.2) has the four bytes of an IPv4 address, by the length of the prefix: never in the ninth. */
const NAT64_LAYOUTS = [
  [6, 7, 9, 10],
  [7, 9, 10, 11],
  [9, 10, 11, 12],
  [12, 13, 14, 15],
] as const

function isRefusedBehindNat64(address: string): boolean {
  if (isIP(address) !== 6 || !LOCAL_NAT64.check(address, 'ipv6')) return false
  const bytes = bytesOf(address)
  return NAT64_LAYOUTS.some((layout) =>
    REFUSED_BEHIND_NAT64.check(layout.map((at) => bytes[at]).join('.')),
  )
}

function bytesOf(ipv6: string): number[] {
  const [head = '', tail = ''] = canonicalIpv6(ipv6).split('::')
  const [before, after] = [groupsOf(head), groupsOf(tail)]
  const between = Array.from({ length: 8 - before.length - after.length }, () => 0)
  return [...before, ...between, ...after].flatMap((group) => [group >> 8, group & 0xff])
}

function groupsOf(part: string): number[] {
  return part === '' ? [] : part.split(':').map((group) => Number.parseInt(group, 16))
}
