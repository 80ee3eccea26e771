import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, test } from 'node:test'
import * as fc from 'fast-check'
import { anyText, propertyRuns } from '../../test/support/property.ts'
import { derOf, mutatedPem } from '../../test/fuzz/hostile-values.ts'
import { createCsrPem, parseCsrPem } from './csr.ts'
import { generateEcP256Key } from './keys.ts'

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
