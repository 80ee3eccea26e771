import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decideWebhookUrl, isAllowedAddress } from './webhook-url.ts'

describe('[WHK-13] the URL of a webhook', () => {
  for (const url of [
    'https://alerts.example.org/cartorio?team=1',
    'https://10.0.0.8:8443/',
    'https://[fd12:3456::1]/',
    'https://localhost/',
    'http://localhost:9000/events',
    'http://127.0.0.1:9000/',
    'http://127.8.9.10/',
    'http://[::1]:9000/',
  ]) {
    test(`may be ${url}`, () => {
      const verdict = decideWebhookUrl(url)
      assert.equal(verdict.ok, true, JSON.stringify(verdict))
    })
  }

  const refused: [url: string, reason: RegExp][] = [
    ['', /not a URL/],
    ['alerts.example.org', /not a URL/],
    ['ftp://alerts.example.org/', /not https/],
    ['file:///etc/passwd', /not https/],
    ['http://alerts.example.org/', /not https, and not on this machine/],
    ['http://localhost.example.org/', /not on this machine/],
    ['http://10.0.0.8/', /no address to send to/],
    ['https://user@alerts.example.org/', /credentials/],
    ['https://user:secret@alerts.example.org/', /credentials/],
    ['https://alerts.example.org/#part', /fragment/],
    [`https://alerts.example.org/${'x'.repeat(2048)}`, /too long/],
    ['https://169.254.169.254/latest/meta-data', /169\.254\.169\.254 is no address/],
    // The same address in other spellings.
    ['https://2852039166/', /169\.254\.169\.254 is no address/],
    ['https://0xa9fea9fe/', /169\.254\.169\.254 is no address/],
    ['https://[::ffff:169.254.169.254]/', /no address/],
    ['https://[64:ff9b::169.254.169.254]/', /no address/],
    ['https://[fe80::1]/', /no address/],
    ['https://0.0.0.0/', /no address/],
    ['https://[::]/', /no address/],
    ['http://0.0.0.0:9000/', /no address/],
  ]
  for (const [url, reason] of refused) {
    test(`may not be ${url.slice(0, 60)}`, () => {
      const verdict = decideWebhookUrl(url)
      assert.ok(!verdict.ok, 'it is accepted')
      assert.match(verdict.reason, reason)
    })
  }
})

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
