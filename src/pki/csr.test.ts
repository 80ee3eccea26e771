import 'reflect-metadata'
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { webcrypto } from 'node:crypto'
import { describe, test } from 'node:test'
import {
  Attribute,
  ExtensionsAttribute,
  Pkcs10CertificateRequestGenerator,
  type Pkcs10CertificateRequestCreateParams,
  SubjectAlternativeNameExtension,
} from '@peculiar/x509'
import * as fc from 'fast-check'
import { createCsrPem, parseCsrPem } from './csr.ts'
import { generateEcP256Key, generateKey } from './keys.ts'
import { propertyRuns } from '../../test/support/property.ts'

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'

/** A CSR of openssl, so that not only our own are read. */
function opensslCsr(subject: string, san?: string): string {
  const extension = san === undefined ? [] : ['-addext', `subjectAltName=${san}`]
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-keyout', '/dev/null']
  const args = ['req', '-new', '-nodes', '-subj', subject, ...key, ...extension]
  return spawnSync('openssl', args, { encoding: 'utf8' }).stdout
}

type CsrParts = Pick<Pkcs10CertificateRequestCreateParams, 'extensions' | 'attributes'>

/** What openssl does not write. */
async function generatedCsr(parts: CsrParts): Promise<string> {
  const algorithm = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
  const keys = await webcrypto.subtle.generateKey(algorithm, true, ['sign', 'verify'])
  const csr = await Pkcs10CertificateRequestGenerator.create({
    name: [{ CN: ['a'] }],
    keys,
    signingAlgorithm: algorithm,
    ...parts,
  })
  return csr.toString('pem')
}

describe('a CSR of ours', () => {
  test('[AGT-6] has the CN as its only name, and openssl accepts its signature', async () => {
    const key = await generateEcP256Key()
    const pem = await createCsrPem('web-1.example', key)
    const args = ['req', '-verify', '-noout', '-subject']
    const { status, stdout, stderr } = spawnSync('openssl', args, { input: pem, encoding: 'utf8' })
    assert.equal(status, 0, stderr)
    assert.match(stdout, /CN ?= ?web-1\.example/)
    const csr = parseCsrPem(pem)
    assert.deepEqual([csr?.commonName, csr?.sans], ['web-1.example', []])
    assert.ok(csr?.publicKeySpki.equals(key.publicKeySpki))
  })
})

describe('a CSR of others', () => {
  test('[ENR-9] is read with its names, DNS and IP', async () => {
    const csr = parseCsrPem(opensslCsr('/CN=a', 'DNS:a,DNS:*.b,IP:192.0.2.1'))
    assert.deepEqual([csr?.commonName, csr?.sans], ['a', ['a', '*.b', '192.0.2.1']])
  })

  test('[ENR-9] with names of another kind has no readable names', async () => {
    const csr = parseCsrPem(opensslCsr('/CN=a', 'DNS:a,URI:https://a'))
    assert.deepEqual([csr?.commonName, csr?.sans], ['a', undefined])
  })

  const otherKinds = [
    'otherName:1.2.3.4;UTF8:a',
    'DNS:a,otherName:1.2.3.4;UTF8:a',
    'otherName:1.3.6.1.4.1.311.20.2.3;UTF8:a@example.org',
    'email:a@example.org',
    'DNS:a,RID:1.2.3.4',
  ]
  for (const names of otherKinds) {
    test(`[ISS-4] has no readable names when they are ${names}`, () => {
      const csr = parseCsrPem(opensslCsr('/CN=a', names))
      assert.deepEqual([csr?.commonName, csr?.sans], ['a', undefined])
    })
  }

  const names = (...dns: string[]): SubjectAlternativeNameExtension =>
    new SubjectAlternativeNameExtension(dns.map((value) => ({ type: 'dns', value })))
  const several: readonly (readonly [string, CsrParts])[] = [
    ['two lists of names', { extensions: [names('a'), names('b')] }],
    [
      'two attributes of extensions',
      { extensions: [names('a')], attributes: [new ExtensionsAttribute([names('b')])] },
    ],
    [
      'an attribute of two values',
      {
        attributes: [
          new Attribute(EXTENSION_REQUEST, [
            ...new ExtensionsAttribute([names('a')]).values,
            ...new ExtensionsAttribute([names('b')]).values,
          ]),
        ],
      },
    ],
  ]
  for (const [title, parts] of several) {
    test(`[ISS-4] has no readable names when it has ${title}`, async () => {
      const csr = parseCsrPem(await generatedCsr(parts))
      assert.deepEqual([csr?.commonName, csr?.sans], ['a', undefined])
    })
  }

  test('[ISS-4] has a CN only when there is exactly one', async () => {
    assert.equal(parseCsrPem(opensslCsr('/O=a'))?.commonName, undefined)
    assert.equal(parseCsrPem(opensslCsr('/CN=a/CN=b'))?.commonName, undefined)
  })

  test('[ENR-9] may have the old PEM label and blanks around, and nothing else', async () => {
    const pem = opensslCsr('/CN=a')
    const old = pem.replaceAll('CERTIFICATE REQUEST', 'NEW CERTIFICATE REQUEST')
    for (const good of [pem, old, `\n  ${pem}\n`, pem.replaceAll('\n', '\r\n')]) {
      assert.equal(parseCsrPem(good)?.commonName, 'a')
    }
    const bad = [`${pem}${pem}`, `text\n${pem}`, `${pem}text`, '', pem.slice(30)]
    for (const text of bad) assert.equal(parseCsrPem(text), undefined)
  })

  test('[ENR-9] with any one byte changed is refused or says the same, and never throws', async () => {
    const pem = opensslCsr('/CN=a')
    const der = Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64')
    const wrap = (bytes: Buffer): string =>
      `-----BEGIN CERTIFICATE REQUEST-----\n${bytes.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`
    const position = fc.nat({ max: der.length - 1 })
    const bit = fc.integer({ min: 0, max: 7 })
    await fc.assert(
      fc.asyncProperty(position, bit, async (index, shift) => {
        const copy = Buffer.from(der)
        copy[index] = (copy[index] ?? 0) ^ (1 << shift)
        const csr = parseCsrPem(wrap(copy))
        assert.ok(csr === undefined || csr.commonName === 'a')
      }),
      propertyRuns(100),
    )
  })
})

test('[AGT-63] a CSR of ours has the DNS names that it is given, as openssl reads them', async () => {
  const names = ['web-1.example', '*.web.example', `${'a'.repeat(60)}.${'b'.repeat(60)}.example`]
  for (const type of ['ec-p256', 'ed25519', 'rsa-2048'] as const) {
    const pem = await createCsrPem('web-1.example', await generateKey(type), names)
    assert.deepEqual(parseCsrPem(pem)?.sans, names)
    const args = ['req', '-noout', '-verify', '-text']
    const { stdout, stderr } = spawnSync('openssl', args, { input: pem, encoding: 'utf8' })
    assert.match(stderr + stdout, /verify OK/)
    assert.ok(stdout.includes(names.map((name) => `DNS:${name}`).join(', ')))
  }
})
