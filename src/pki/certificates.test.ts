import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { parseCertificatePem, parseCertificatesPem, subjectAltNamesOf } from './certificates.ts'

function selfSigned(subject: string, san?: string): string {
  const extension = san === undefined ? [] : ['-addext', `subjectAltName=${san}`]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-keyout', '/dev/null']
  const args = ['req', '-x509', '-nodes', '-days', '1', '-subj', subject, ...key, ...extension]
  return spawnSync('openssl', args, { encoding: 'utf8' }).stdout
}

test('a certificate is read as openssl shows it', () => {
  const pem = selfSigned('/CN=a.example', 'DNS:a.example,IP:192.0.2.1')
  const certificate = parseCertificatePem(pem)
  const args = ['x509', '-noout', '-serial', '-fingerprint', '-sha256']
  const { stdout } = spawnSync('openssl', args, { input: pem, encoding: 'utf8' })
  const [serial = '', fingerprint = ''] = stdout.split('\n').map((line) => line.split('=')[1] ?? '')
  assert.equal(certificate.serial, serial.toLowerCase())
  assert.equal(certificate.sha256, fingerprint.replaceAll(':', '').toLowerCase())
  assert.equal(certificate.sha256, createHash('sha256').update(certificate.x509.raw).digest('hex'))
  assert.equal(certificate.commonName, 'a.example')
  assert.deepEqual(subjectAltNamesOf(certificate), ['a.example', '192.0.2.1'])
  assert.equal(certificate.notAfter.getTime() - certificate.notBefore.getTime(), 86_400_000)
})

test('a certificate with no CN or two has none, and one without names has an empty list', () => {
  assert.equal(parseCertificatePem(selfSigned('/O=a')).commonName, undefined)
  assert.equal(parseCertificatePem(selfSigned('/CN=a/CN=b')).commonName, undefined)
  assert.deepEqual(subjectAltNamesOf(parseCertificatePem(selfSigned('/CN=a'))), [])
})

test('a chain keeps its order, text around it is left out, and none at all is told', () => {
  const [first, second] = [selfSigned('/CN=first'), selfSigned('/CN=second')]
  const chain = parseCertificatesPem(`comment\n${first}between\n${second}`)
  assert.deepEqual(
    chain.map(({ commonName }) => commonName),
    ['first', 'second'],
  )
  assert.deepEqual(parseCertificatesPem('nothing'), [])
  assert.throws(() => parseCertificatePem('nothing'), /no PEM certificate found/)
  const broken = first.replace(/\n[A-Za-z0-9+/]{8}/, '\nAAAAAAAA')
  assert.throws(() => parseCertificatesPem(broken))
})
