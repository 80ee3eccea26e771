import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import { type Certificate, parseCertificatePem } from './certificates.ts'
import { findIssuedCertificateFault } from './issued-certificate.ts'

function issued(san: string, subject = '/CN=web-1'): Certificate {
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-keyout', '/dev/null']
  const extensions = [`subjectAltName=${san}`, 'basicConstraints=critical,CA:FALSE']
  const config = extensions.flatMap((extension) => ['-addext', extension])
  const args = ['req', '-x509', '-nodes', '-days', '1', '-subj', subject, ...key, ...config]
  return parseCertificatePem(spawnSync('openssl', args, { encoding: 'utf8' }).stdout)
}

function faultOf(certificate: Certificate, sans: readonly string[]): string | undefined {
  return findIssuedCertificateFault([certificate], {
    publicKeySpki: certificate.publicKeySpki,
    commonName: 'web-1',
    sans,
    roots: [],
    now: new Date(),
    clockSkewMsMax: 60_000,
  })
}

/** What comes after the names. */
const NAMES_ARE_RIGHT = 'the chain does not lead to a trusted root'

describe('[CAX-12] the names of a certificate', () => {
  for (const [san, sans] of [
    ['DNS:web-1', ['web-1']],
    ['DNS:WWW.example,DNS:web-1,DNS:*.b.example', ['web-1', 'www.example', '*.b.example']],
    ['IP:192.0.2.1,IP:2001:db8::1,DNS:web-1', ['web-1', '192.0.2.1', '2001:0db8::0:1']],
  ] as const) {
    test(`are what was asked for when they are ${san}`, () =>
      assert.equal(faultOf(issued(san), sans), NAMES_ARE_RIGHT))
  }

  for (const [san, sans, shown] of [
    ['email:web-1', ['web-1'], 'email:web-1'],
    ['URI:web-1', ['web-1'], 'URI:web-1'],
    ['DNS:web-1,URI:https://web-1', ['web-1'], 'web-1, URI:https://web-1'],
    ['DNS:web-1,RID:1.2.3.4', ['web-1'], 'web-1, Registered ID:1.2.3.4'],
    ['DNS:web-1,otherName:1.2.3.4;UTF8:x', ['web-1'], 'web-1, othername:<unsupported>'],
    ['DNS:192.0.2.1', ['192.0.2.1'], 'DNS:192.0.2.1'],
    ['IP:192.0.2.1', ['web-1'], '192.0.2.1'],
    ['DNS:web-1 www', ['web-1', 'www'], 'web-1 www'],
  ] as const) {
    test(`are not ${sans.join(' and ')} when they are ${san}`, () =>
      assert.equal(faultOf(issued(san), sans), `the certificate has the names ${shown}`))
  }

  test('are not two when one of them holds both', () => {
    // A configuration file of openssl would split it at the comma.
    const der = 'DER:30:0e:82:0c:77:65:62:2d:31:2c:20:44:4e:53:3a:61'
    assert.equal(
      faultOf(issued(der), ['web-1', 'a']),
      String.raw`the certificate has the names "web-1\u002c DNS:a"`,
    )
  })
})

test('[AGT-64] [CAX-32] a certificate without a CN is for its names, where that is allowed', () => {
  const faultWithout = (certificate: Certificate, isCommonNameOptional: boolean) =>
    findIssuedCertificateFault([certificate], {
      publicKeySpki: certificate.publicKeySpki,
      commonName: 'web-1',
      isCommonNameOptional,
      roots: [],
      now: new Date(),
      clockSkewMsMax: 60_000,
    })
  const unnamed = issued('DNS:web-1,DNS:b', '/O=x')
  assert.equal(faultWithout(unnamed, true), NAMES_ARE_RIGHT)
  assert.equal(faultWithout(unnamed, false), 'the certificate is for CN (none)')
  assert.equal(faultWithout(issued('DNS:b', '/O=x'), true), 'the certificate is for CN (none)')
  assert.equal(faultWithout(issued('DNS:web-1', '/CN=b'), true), 'the certificate is for CN b')
  for (const subject of ['/CN=b/CN=c', '/CN=web-1/CN=web-1', '/O=x/CN=b+CN=c']) {
    assert.equal(
      faultWithout(issued('DNS:web-1', subject), true),
      'the certificate is for CN (more than one)',
      subject,
    )
  }
})
