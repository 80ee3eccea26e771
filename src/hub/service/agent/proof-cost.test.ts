// What a stranger can make the hub verify with one proof, however many rules there are: docs/protocol.md JNR-25, LIM-24.

import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { describe, test } from 'node:test'
import {
  derOf,
  openCertificateScene,
  signWith,
} from '../../../../test/support/certificate-scene.ts'
import { CA_EXTENSIONS, hostExtensions } from '../../../../test/support/openssl-pki.ts'
import { HOST } from '../../../../test/support/proof-scene.ts'

const RULES = 50

describe(`[JNR-25] of ${RULES} rules with one CA`, () => {
  test('a forged chain of four certificates costs four of their signatures at most', async () => {
    await using open = await openCertificateScene()
    const { pki, scene } = open
    const ca = pki.make('Crowd', { extensions: CA_EXTENSIONS }).pem
    for (let made = 0; made < RULES; made += 1) await scene.makeRule({ method: 'x5c', x5c: { ca } })
    const unnamed = ['subjectKeyIdentifier=none', 'authorityKeyIdentifier=none']
    const sham = () => pki.make('Crowd', { extensions: [...CA_EXTENSIONS, ...unnamed] })
    const [first, second, third] = [sham(), sham(), sham()]
    const leaf = pki.make('x', { issuer: first, extensions: [...hostExtensions(HOST), ...unnamed] })
    const x5c = [leaf, first, second, third].map(derOf)
    const token = open.forge({ x5c }, signWith(leaf.keyPem))
    using verified = countVerified()
    assert.equal(await scene.ask(token), 'token_not_found')
    assert.deepEqual(scene.refusals(), [['certificate', 'no chain to a CA of the rule']])
    assert.ok(verified.count >= 1 && verified.count <= 4, `${verified.count} signatures`)
  })
})

/** Signatures of certificates, while it is open. */
function countVerified(): Disposable & { count: number } {
  const { verify } = X509Certificate.prototype
  const counted = {
    count: 0,
    [Symbol.dispose]: () => {
      X509Certificate.prototype.verify = verify
    },
  }
  X509Certificate.prototype.verify = function count(key) {
    counted.count += 1
    return verify.call(this, key)
  }
  return counted
}
