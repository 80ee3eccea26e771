import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { isAllowedAddress } from './webhook-addresses.ts'

describe('[WHK-13] an address', () => {
  const cases: [protocol: string, isAllowed: boolean, addresses: string[]][] = [
    ['https:', true, ['192.0.2.1', '10.1.2.3', '172.16.0.1', '192.168.1.1', '127.0.0.1', '::1']],
    ['https:', true, ['2001:db8::1', 'fd00::1', '::ffff:10.1.2.3', '168.63.129.17']],
    ['https:', false, ['169.254.0.1', '169.254.169.254', '::ffff:169.254.1.1', '::ffff:a9fe:a9fe']],
    [
      'https:',
      false,
      ['fe80::1', 'fe80::1%eth0', 'febf::1', 'ff02::1', '::', '0.0.0.0', '0.1.2.3'],
    ],
    ['https:', false, ['224.0.0.1', '239.1.1.1', '255.255.255.255', '240.0.0.1']],
    ['https:', false, ['fd00:ec2::254', 'fd00:ec2::23', 'fd20:ce::254']],
    ['https:', false, ['100.100.100.200', '192.0.0.192', '168.63.129.16']],
    // What leads to an IPv4 address by way of an IPv6 one: compatible, translated, 6to4, Teredo, NAT64.
    ['https:', false, ['::169.254.169.254', '::a9fe:a9fe', '::10.1.2.3', '::2', '::127.0.0.1']],
    ['https:', false, ['::ffff:0:169.254.169.254', '::ffff:0:10.1.2.3']],
    ['https:', false, ['2002:a9fe:a9fe::1', '2002:a00:1::1', '2002:808:808::1']],
    ['https:', false, ['2001:0:a9fe:a9fe::1', '2001::5601:5601']],
    ['https:', false, ['64:ff9b::169.254.169.254', '64:ff9b::100.100.100.200', '64:ff9b::']],
    ['https:', true, ['64:ff9b::192.0.2.1', '64:ff9b::10.1.2.3', '64:ff9b:0:1::1', '64:ff9b:2::1']],
    ['https:', false, ['64:ff9b:1::169.254.169.254', '64:ff9b:1:7:8::168.63.129.16']],
    // RFC 6052, 2.2: behind 48, 56, 64 bits of prefix, around the ninth byte; what follows is dropped.
    ['https:', false, ['64:ff9b:1:a9fe:a9:fe00::', '64:ff9b:1:a9fe:ffa9:fe00::8.8.8.8']],
    ['https:', false, ['64:ff9b:1:12a9:fe:a9fe::', '64:ff9b:1:1264:64:64c8:0:1']],
    ['https:', false, ['64:ff9b:1:1234:a9:fea9:fe00:0', '64:ff9b:1:1234:c0:0:c000:1']],
    ['https:', true, ['64:ff9b:1::192.0.2.1', '64:ff9b:1:c000:2:100::', '64:ff9b:1:8e9:fe:1200::']],
    ['https:', true, ['2001:1::1', '2001:db8:a9fe:a9fe::1', '2003::1', '1::169.254.169.254']],
    ['http:', false, ['::127.0.0.1', '64:ff9b::127.0.0.1', '2002:7f00:1::']],
    ['https:', false, ['', 'localhost', '1.2.3']],
    ['http:', true, ['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1']],
    ['http:', false, ['10.1.2.3', '192.0.2.1', '2001:db8::1', 'fd00::1', '::ffff:10.0.0.1']],
  ]
  for (const [protocol, isAllowed, addresses] of cases) {
    for (const address of addresses) {
      test(`${address || 'that is none'} is ${isAllowed ? '' : 'not '}for ${protocol}`, () => {
        assert.equal(isAllowedAddress(address, protocol), isAllowed)
      })
    }
  }
})
