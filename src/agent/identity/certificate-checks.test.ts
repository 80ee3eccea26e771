import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { createFakeCa } from '../../../test/fakes/hub-certificates.ts'
import { parseCertificatePem } from '../../pki/certificates.ts'
import { createCsrPem } from '../../pki/csr.ts'
import { generateEcP256Key } from '../../pki/keys.ts'
import { checkIssuedCertificate } from './certificate-checks.ts'
import type { Identity } from './identity.ts'

const HOUR_MS = 3_600_000
const NOW = new Date()
const after = (ms: number): Date => new Date(NOW.getTime() + ms)

describe('a certificate that the hub hands out', async () => {
  const [ca, otherCa] = [await createFakeCa(), await createFakeCa()]
  const [key, otherKey] = [await generateEcP256Key(), await generateEcP256Key()]
  const root = parseCertificatePem(ca.rootPem)
  const csrPem = await createCsrPem('web-1', key)
  const leaf = { commonName: 'web-1', notBefore: after(-HOUR_MS), notAfter: after(HOUR_MS) }
  const signed = await ca.sign(csrPem, leaf)
  const identity: Identity = {
    hostname: 'web-1',
    leaf: parseCertificatePem(signed),
    certificatePem: signed,
    key,
    caPem: ca.rootPem,
    roots: [root],
    record: undefined,
  }
  const check = (pem: string, publicKeySpki = key.publicKeySpki) =>
    checkIssuedCertificate(pem, publicKeySpki, identity, NOW)

  test('[AGT-35] is taken with its intermediates when all is right', () => {
    const checked = check(signed)
    assert.equal(checked.ok, true)
    assert.equal(checked.ok && checked.pem.match(/BEGIN CERTIFICATE/g)?.length, 2)
  })

  const faults: [what: string, fault: RegExp, pem: Promise<string> | string, spki?: Buffer][] = [
    ['for another key', /for another key/, signed, otherKey.publicKeySpki],
    ['for another CN', /for CN web-2/, ca.sign(csrPem, { ...leaf, commonName: 'web-2' })],
    ['of another root', /does not lead to a trusted root/, otherCa.sign(csrPem, leaf)],
    ['that has expired', /is expired/, ca.sign(csrPem, { ...leaf, notAfter: after(-1000) })],
    [
      'that begins long from now',
      /is not valid yet/,
      ca.sign(csrPem, { ...leaf, notBefore: after(HOUR_MS), notAfter: after(2 * HOUR_MS) }),
    ],
    ['that is none', /cannot be parsed/, 'nonsense'],
  ]
  for (const [what, fault, pem, publicKeySpki] of faults) {
    test(`[AGT-35] ${what} is refused`, async () => {
      const checked = check(await pem, publicKeySpki)
      assert.match(checked.ok ? 'taken' : checked.fault, fault)
    })
  }
})
