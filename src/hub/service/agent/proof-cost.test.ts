// What a stranger can make the hub verify with one proof, however many rules there are: docs/protocol.md JNR-25, LIM-24.

import assert from 'node:assert/strict'
import crypto, { X509Certificate } from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import { describe, test } from 'node:test'
import {
  derOf,
  openCertificateScene,
  signWith,
} from '../../../../test/support/certificate-scene.ts'
import { CA_EXTENSIONS, hostExtensions } from '../../../../test/support/openssl-pki.ts'
import { HOST } from '../../../../test/support/proof-scene.ts'
import { openSshScene } from '../../../../test/support/ssh-scene.ts'
import { withTools } from '../../../../test/support/tools.ts'

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
    using signatures = countCalls(crypto, 'verify')
    assert.equal(await scene.ask(await open.prove([open.host, open.middle])), 'token_not_found')
    assert.equal(signatures.count, 0, 'none for a CA that no rule trusts')
    using verified = countCalls(X509Certificate.prototype, 'verify')
    assert.equal(await scene.ask(token), 'token_not_found')
    assert.deepEqual(scene.refusals(), [['certificate', 'no chain to a CA of the rule']])
    assert.ok(verified.count >= 1 && verified.count <= 4, `${verified.count} signatures`)
  })

  test(
    'a forged SSH certificate costs two signatures, and one rule',
    withTools('ssh-keygen'),
    async () => {
      await using open = await openSshScene()
      const { keys, scene, authority, other } = open
      const known_hosts = `@cert-authority * ${authority.publicLine}`
      const ssh = { known_hosts }
      for (let made = 0; made < RULES; made += 1) await scene.makeRule({ method: 'ssh', ssh })
      const made = keys.certify(other, authority, ['-h', '-n', HOST.replace('1', '9')])
      const forged = made.toString('latin1').replace(HOST.replace('1', '9'), HOST)
      const certificate = Buffer.from(forged, 'latin1')
      const token = open.prove(other, { certificate })
      using verified = countCalls(crypto, 'verify')
      using read = countCalls(scene.store.reader, 'findJoinRule')
      assert.equal(await scene.ask(token), 'token_not_found')
      assert.deepEqual(scene.refusals(), [['certificate', 'not signed by its CA']])
      assert.equal(verified.count, 2)
      assert.equal(read.count, 1)
      const own = keys.make('ed25519')
      const good = keys.certify(own, authority, ['-h', '-n', 'web-7.example.org'])
      assert.equal(await scene.ask(open.prove(own, { certificate: good })), 'hostname_mismatch')
      assert.equal(verified.count, 4, 'two more for a good one, which is of another host')
      // Whoever is named by its key in another rule needs no certificate.
      const named = { known_hosts: `${HOST} ${other.publicLine}` }
      await scene.makeRule({ method: 'ssh', ssh: named })
      assert.match(await scene.ask(open.prove(other, { certificate })), /^chain/)
    },
  )

  test(
    'none of those that trust the CA of a host hides behind those that know its key',
    withTools('ssh-keygen'),
    async () => {
      await using open = await openSshScene()
      const { keys, scene, authority, host } = open
      const elsewhere = { known_hosts: `web-9.example.org ${host.publicLine}` }
      for (let made = 0; made < RULES; made += 1) {
        await scene.makeRule({ method: 'ssh', ssh: elsewhere })
      }
      const known_hosts = `@cert-authority * ${authority.publicLine}`
      await scene.makeRule({ method: 'ssh', ssh: { known_hosts } })
      const certificate = keys.certify(host, authority, ['-h', '-n', HOST])
      assert.match(await scene.ask(open.prove(host, { certificate })), /^chain/)
    },
  )
})

/** Of one method, while it is open. */
function countCalls<K extends string>(
  of: Record<K, (...args: never[]) => unknown>,
  method: K,
): Disposable & { count: number } {
  const called = of[method]
  const counted = {
    count: 0,
    [Symbol.dispose]: () => {
      of[method] = called
      syncBuiltinESMExports()
    },
  }
  of[method] = function count(this: unknown, ...args: never[]) {
    counted.count += 1
    return called.apply(this, args)
  }
  syncBuiltinESMExports()
  return counted
}
