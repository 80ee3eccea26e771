import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempDisposableSync } from 'node:fs'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import 'reflect-metadata'
import { Pkcs10CertificateRequest, SubjectAlternativeNameExtension } from '@peculiar/x509'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../test/support/property.ts'
import { derOf, mutatedPem } from '../../test/fuzz/hostile-values.ts'
import { createCsrPem, parseCsrPem } from './csr.ts'
import { generateEcP256Key } from './keys.ts'

const EXTENSION_REQUEST = '1.2.840.113549.1.9.14'
const SUBJECT_ALT_NAME = '2.5.29.17'

/** What @peculiar/x509 reads, which takes a hundred times as long; undefined where it reads nothing. */
function readByLibrary(pem: string): { commonName: string | undefined; sans: unknown } | undefined {
  try {
    const csr = new Pkcs10CertificateRequest(derOf(pem))
    const names = csr.subjectName.getField('CN')
    const requests = csr.getAttributes(EXTENSION_REQUEST)
    const [list, ...others] = csr.getExtensions(SUBJECT_ALT_NAME)
    const isClear = requests.length <= 1 && others.length === 0
    const sans =
      list instanceof SubjectAlternativeNameExtension
        ? list.names.items.map(({ type, value }) => ({ type, value }))
        : []
    return { commonName: names.length === 1 ? names[0] : undefined, sans: isClear && sans }
  } catch {
    return undefined
  }
}

const SLOW_MS = 1000
const KEYS: Readonly<Record<string, readonly string[]>> = {
  'P-256': ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  Ed25519: ['ed25519'],
  'RSA 2048': ['rsa:2048'],
}

function opensslCsr(key: readonly string[]): string {
  const options = ['-new', '-nodes', '-keyout', '/dev/null', '-subj', '/O=o/CN=a.example']
  const names = ['-addext', 'subjectAltName=DNS:a.example,IP:192.0.2.1']
  return spawnSync('openssl', ['req', ...options, '-newkey', ...key, ...names], {
    encoding: 'utf8',
  }).stdout
}

describe('a CSR', () => {
  for (const [name, key] of Object.entries(KEYS)) {
    test(`[ENR-9] of ${name} that was changed anywhere is refused, or says what the signed one said, at once`, () => {
      const pem = opensslCsr(key)
      const original = parseCsrPem(pem)
      assert.equal(original?.commonName, 'a.example')
      fc.assert(
        fc.property(mutatedPem(pem), (mutated) => {
          const startedMs = performance.now()
          const csr = parseCsrPem(mutated)
          assert.ok(performance.now() - startedMs < SLOW_MS, mutated)
          if (csr === undefined) return
          assert.deepEqual(
            [csr.commonName, csr.sans, csr.publicKeySpki],
            [original.commonName, original.sans, original.publicKeySpki],
          )
        }),
        propertyRuns(300),
      )
    })
  }

  const subjects = [
    '/CN=a.example',
    '/O=o/CN=a.example',
    '/CN=a/CN=b',
    '/O=o',
    '/CN=ä',
    '/C=BR/CN=x+OU=y',
  ]
  const lists = [
    '',
    'DNS:a.example',
    'DNS:*.b,IP:192.0.2.1,IP:2001:db8::1',
    'IP:::ffff:192.0.2.1',
    'URI:x:y',
  ]
  /** As `openssl genpkey` names the key, and what `openssl req` is to sign with. */
  const signatures: Readonly<Record<string, readonly string[]>> = {
    'P-256': ['EC -pkeyopt ec_paramgen_curve:P-256'],
    'P-384': ['EC -pkeyopt ec_paramgen_curve:P-384', '-sha384'],
    Ed25519: ['ED25519'],
    'RSA 2048': ['RSA -pkeyopt rsa_keygen_bits:2048', '-sha512'],
    'RSA 2048, PSS': [
      'RSA -pkeyopt rsa_keygen_bits:2048',
      '-sigopt',
      'rsa_padding_mode:pss',
      '-sigopt',
      'rsa_pss_saltlen:-1',
    ],
  }
  for (const [name, [algorithm = '', ...options]] of Object.entries(signatures)) {
    test(`[ENR-9] [ISS-4] of ${name} says what the library reads in it, whatever its subject and names`, () => {
      const openssl = (...args: readonly string[]): string =>
        spawnSync('openssl', args, { encoding: 'utf8' }).stdout
      using directory = mkdtempDisposableSync(join(tmpdir(), 'csr-'))
      const key = join(directory.path, 'key')
      openssl('genpkey', '-out', key, '-algorithm', ...algorithm.split(' '))
      for (const subject of subjects) {
        for (const list of lists) {
          const names = list === '' ? [] : ['-addext', `subjectAltName=${list}`]
          const args = ['req', '-new', '-utf8', '-key', key, '-subj', subject, ...names]
          const pem = openssl(...args, '-addext', 'keyUsage=digitalSignature', ...options)
          const [csr, expected] = [parseCsrPem(pem), readByLibrary(pem)]
          assert.ok(csr && expected, `${subject} ${list}`)
          assert.equal(csr.commonName, expected.commonName)
          const sans = csr.sans?.map((value) => ({ type: isIP(value) === 0 ? 'dns' : 'ip', value }))
          if (list.startsWith('URI')) assert.equal(sans, undefined)
          else assert.deepEqual(sans, expected.sans)
        }
      }
    })
  }

  test('[ENR-9] any text, and PEM of any bytes, is none', () => {
    const wrapped = fc.uint8Array({ maxLength: 300 }).map((bytes) => {
      const text = Buffer.from(bytes).toString('base64')
      return `-----BEGIN CERTIFICATE REQUEST-----\n${text}\n-----END CERTIFICATE REQUEST-----\n`
    })
    fc.assert(
      fc.property(fc.oneof(anyText(), wrapped), (text) =>
        assert.equal(parseCsrPem(text), undefined),
      ),
      propertyRuns(1000),
    )
  })

  test('[ENR-9] of many kilobytes of nearly nothing is refused at once', () => {
    const head = '-----BEGIN CERTIFICATE REQUEST-----'
    const filler = fc.constantFrom(' ', 'A', '\n', '=', '-', `${head}\n`, '-----END ', '\u2003')
    fc.assert(
      fc.property(
        filler,
        fc.constantFrom('', head),
        fc.constantFrom('', '!'),
        (unit, start, end) => {
          const startedMs = performance.now()
          assert.equal(parseCsrPem(start + unit.repeat(65_536 / unit.length) + end), undefined)
          assert.ok(performance.now() - startedMs < SLOW_MS)
        },
      ),
      propertyRuns(32),
    )
  })

  test('[AGT-6] of ours is read as it was written, for any host name', async () => {
    const key = await generateEcP256Key()
    await fc.assert(
      fc.asyncProperty(
        fc.domain().filter((name) => name.length <= 64),
        async (name) => {
          const pem = await createCsrPem(name, key)
          const csr = parseCsrPem(pem)
          assert.deepEqual([csr?.commonName, csr?.sans], [name, []])
          assert.deepEqual([csr?.der, csr?.publicKeySpki], [derOf(pem), key.publicKeySpki])
        },
      ),
      propertyRuns(100),
    )
  })
})
