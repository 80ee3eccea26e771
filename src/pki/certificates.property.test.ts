import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../test/support/property.ts'
import { mutatedPem } from '../../test/fuzz/hostile-values.ts'
import { parseCertificatePem, parseCertificatesPem, subjectAltNamesOf } from './certificates.ts'

const SLOW_MS = 1000
const KEY = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-keyout', '/dev/null']
const NAMES = ['-addext', 'subjectAltName=DNS:a.example,IP:192.0.2.1,URI:x:y']
const PEM = spawnSync(
  'openssl',
  ['req', '-x509', '-nodes', '-days', '9', '-subj', '/CN=a.example', ...KEY, ...NAMES],
  { encoding: 'utf8' },
).stdout

/** Reads all that anybody asks of a certificate, except the public key, which may be one that OpenSSL does not know. */
function readAll(pem: string): number {
  const certificates = parseCertificatesPem(pem)
  for (const certificate of certificates) {
    // RFC 5280 forbids negative numbers, OpenSSL shows them.
    assert.match(certificate.serial, /^-?[0-9a-f]*$/)
    assert.match(certificate.sha256, /^[0-9a-f]{64}$/)
    assert.ok(certificate.commonName === undefined || typeof certificate.commonName === 'string')
    assert.ok(certificate.notBefore instanceof Date && certificate.notAfter instanceof Date)
    assert.ok(subjectAltNamesOf(certificate).every((name) => typeof name === 'string'))
    assert.equal(parseCertificatePem(certificate.pem).sha256, certificate.sha256)
  }
  return certificates.length
}

/** Throws only what OpenSSL throws: an Error with a code of its own. */
function isParsed(pem: string): boolean {
  try {
    return readAll(pem) > 0
  } catch (error) {
    assert.ok(error instanceof Error && !(error instanceof assert.AssertionError), String(error))
    assert.match('code' in error ? String(error.code) : '', /^ERR_/)
    return false
  }
}

test('a certificate with bytes changed, taken away or put in is read whole or refused, at once', () => {
  assert.ok(isParsed(PEM))
  fc.assert(
    fc.property(mutatedPem(PEM), (pem) => {
      const startedMs = performance.now()
      isParsed(pem)
      assert.ok(performance.now() - startedMs < SLOW_MS, pem)
    }),
    propertyRuns(1000),
  )
})

test('any text has the certificates that are in it, one after the other, and the first is the first', () => {
  const piece = fc.oneof(anyText(), fc.constantFrom(PEM, '-----BEGIN CERTIFICATE-----', '\n'))
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 6 }), (pieces) => {
      const text = pieces.join('\n')
      const count = pieces.filter((one) => one === PEM).length
      assert.equal(parseCertificatesPem(text).length, count)
      if (count === 0)
        assert.throws(() => parseCertificatePem(text), { message: 'no PEM certificate found' })
      else
        assert.equal(
          parseCertificatePem(text).sha256,
          new X509Certificate(PEM).fingerprint256.replaceAll(':', '').toLowerCase(),
        )
    }),
    propertyRuns(300),
  )
})
