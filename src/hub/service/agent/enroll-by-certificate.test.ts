// Enrolments by a certificate that a host has already: docs/protocol.md JNR-23 to JNR-26, JNR-29. Certificates are openssl's.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type CertificateScene,
  openCertificateScene,
  sha256Of,
} from '../../../../test/support/certificate-scene.ts'
import { CA_EXTENSIONS, hostExtensions } from '../../../../test/support/openssl-pki.ts'
import { OTHER_CSR_PEM } from '../../../../test/support/proof-scene.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import { CaError } from '../../ca/certificate-authority.ts'

let open: CertificateScene
before(async () => {
  open = await openCertificateScene()
})
after(() => open[Symbol.asyncDispose]())

describe('[JNR-26] a host with a certificate of a CA that a rule trusts', () => {
  const keys: [string, string[]][] = [
    ['P-256', ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256']],
    ['P-384', ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384']],
    ['Ed25519', ['-algorithm', 'ED25519']],
    ['RSA', ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048']],
  ]
  for (const [what, key] of keys) {
    test(`enrols, with a key ${what}`, async () => {
      const { pki, scene, root, trust, prove } = open
      await trust()
      const hostname = `${what.toLowerCase()}.example.org`
      const own = pki.make('host', { issuer: root, key, extensions: hostExtensions(hostname) })
      assert.match(
        await scene.ask(await prove([own], scene.state({ hostname })), { hostname }),
        /^chain/,
      )
    })
  }

  test('enrols by any of several CA certificates with one key, as after its renewal', async () => {
    const { pki, scene, trust, prove } = open
    const past = pki.make('Renewed', { extensions: CA_EXTENSIONS, days: 1 })
    const renewed = pki.renew(past, 'Renewed', { extensions: CA_EXTENSIONS, days: 3650 })
    const hostname = 'renewed.example.org'
    const own = pki.make('host', { issuer: renewed, extensions: hostExtensions(hostname) })
    const ask = async () => {
      scene.clock.pass(2 * 86_400_000)
      return scene.ask(await prove([own], scene.state({ hostname })), { hostname })
    }
    await trust(past.pem)
    assert.equal(await ask(), 'token_not_found')
    assert.deepEqual(scene.refusals(), [['certificate', 'a certificate that is expired']])
    await trust(`${past.pem}${renewed.pem}`)
    assert.match(await ask(), /^chain/)
  })

  test('[JNR-29] enrols by an intermediate, and the log says by which CA and certificate', async () => {
    const { pki, scene, root, middle, trust, prove } = open
    const rule = await trust(`${middle.pem}${root.pem}`)
    const hostname = 'two.example.org'
    const names = hostExtensions(hostname, 'three.example.org')
    const own = pki.make('two', { issuer: middle, extensions: names })
    const askAs = async (name: string) =>
      scene.ask(await prove([own, middle], scene.state({ hostname: name })), { hostname: name })
    const seq = await lastSeq(scene.store.reader)
    scene.authority.failWith(new CaError('unreachable', 'no answer'))
    assert.equal(await askAs(hostname), 'ca_failed')
    scene.authority.failWith(undefined)
    const chain = await askAs(hostname)
    assert.match(chain, /^chain/)
    const acts = await readActs(scene.store.reader, seq)
    const [said] = acts.flatMap(([type, payload]) => (type === 'agent_enrolled' ? [payload] : []))
    const { join_rule, certificate_sha256, ca_sha256 } = said as Record<string, string>
    assert.equal(join_rule, rule)
    assert.equal(certificate_sha256, sha256Of(own))
    assert.equal(ca_sha256, sha256Of(middle))
    // A reply that was lost: a new proof of the same request, also when the rule has ended since.
    scene.clock.pass(60_000)
    assert.equal(await askAs(hostname), chain)
    await scene.admin.endJoinRule({ join_rule: rule })
    assert.equal(await askAs(hostname), chain)
    assert.equal(await askAs('three.example.org'), 'token_not_found')
    assert.deepEqual(scene.refusals(), [])
  })

  test('[JNR-29] whose request failed at the CA joins by another rule when the first one is full', async () => {
    const { pki, scene, root, trust, prove } = open
    await scene.admin.endJoinRule({ join_rule: await trust() })
    const hostname = 'z-full.example.org'
    const own = pki.make('host', { issuer: root, extensions: hostExtensions(hostname) })
    const other = pki.make('host', {
      issuer: root,
      extensions: hostExtensions('other.example.org'),
    })
    const ask = async (key: typeof own, name: string) =>
      scene.ask(await prove([key], scene.state({ hostname: name })), { hostname: name })
    const one = { method: 'x5c', x5c: { ca: root.pem }, hosts_max: 1 } as const
    const full = await scene.makeRule(one)
    scene.authority.failWith(new CaError('unreachable', 'no answer'))
    assert.equal(await ask(own, hostname), 'ca_failed')
    scene.authority.failWith(undefined)
    assert.match(await ask(other, 'other.example.org'), /^chain/)
    assert.equal(await ask(own, hostname), 'token_expired')
    const next = await scene.makeRule(one)
    assert.match(await ask(own, hostname), /^chain/)
    for (const { name } of [full, next]) await scene.admin.endJoinRule({ join_rule: name })
  })

  test('[JNR-29] has used its name: another request is refused, whoever makes it', async () => {
    const { pki, scene, root, trust, prove } = open
    await trust()
    const hostname = 'once.example.org'
    const own = pki.make('host', { issuer: root, extensions: hostExtensions(hostname) })
    assert.match(
      await scene.ask(await prove([own], scene.state({ hostname })), { hostname }),
      /^chain/,
    )
    const other = scene.state({ hostname, csr_sha256: sha256Of({ pem: OTHER_CSR_PEM }) })
    const changes = { hostname, csr_pem: OTHER_CSR_PEM }
    assert.equal(await scene.ask(await prove([own], other), changes), 'token_consumed')
    // By another rule it may join again once somebody has removed it.
    await trust()
    const fresh = scene.state({ hostname, csr_sha256: other.csr_sha256 })
    assert.equal(await scene.ask(await prove([own], fresh), changes), 'agent_already_enrolled')
  })

  test('whose CA may give such names, and addresses, enrols', async () => {
    const { pki, scene, root, trust, prove } = open
    await trust()
    const bounds =
      'nameConstraints=critical,permitted;DNS:example.org,permitted;IP:10.0.0.0/255.0.0.0,excluded;DNS:evil.example.org'
    const bound = pki.make('Bound', { issuer: root, extensions: [...CA_EXTENSIONS, bounds] })
    const hostname = 'bound.example.org'
    const own = pki.make('', {
      issuer: bound,
      extensions: ['basicConstraints=CA:FALSE', `subjectAltName=DNS:${hostname},IP:10.1.2.3`],
    })
    assert.match(
      await scene.ask(await prove([own, bound], scene.state({ hostname })), { hostname }),
      /^chain/,
    )
  })
})
