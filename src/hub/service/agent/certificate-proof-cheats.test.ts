// Every way to cheat with a proof by the key of a certificate, each refused and named: docs/protocol.md JNR-24, JNR-26. Certificates are openssl's.

import assert from 'node:assert/strict'
import { constants, createHmac, sign } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import {
  type CertificateScene,
  derOf,
  encode,
  openCertificateScene,
  signWith,
} from '../../../../test/support/certificate-scene.ts'
import { CA_EXTENSIONS, hostExtensions } from '../../../../test/support/openssl-pki.ts'
import { HOST, OTHER_CSR_PEM } from '../../../../test/support/proof-scene.ts'
import type { HostStatement } from '../../../protocol/host-proof.ts'

let open: CertificateScene
before(async () => {
  open = await openCertificateScene()
})
after(() => open[Symbol.asyncDispose]())

type Cheat = [how: string, token: () => string | Promise<string>, refusal: string, said: string[][]]

describe('[JNR-24] [JNR-26] of every way to cheat with what the key has signed', () => {
  const at = (passMs: number) => {
    const token = open.prove([open.host, open.middle])
    open.scene.clock.pass(passMs)
    return token
  }
  const stated = (changes: object) =>
    open.prove([open.host, open.middle], { ...open.scene.state(), ...changes })
  const ownOf = (key: string[]) =>
    open.pki.make('x', { issuer: open.middle, key, extensions: hostExtensions(HOST) })
  const refused = 'token_not_found'
  const unsigned = [['signature', 'not signed by the key of the certificate']]

  const cheats: Cheat[] = [
    [
      'another certificate request',
      () => stated({ csr_sha256: 'a'.repeat(64) }),
      refused,
      [['statement', 'for another certificate request']],
    ],
    [
      'another hub',
      () => stated({ hubs: ['evil.example.org'] }),
      refused,
      [['statement', 'for another hub']],
    ],
    ['another role', () => stated({ role: 'db' }), refused, [['statement', 'for another role']]],
    [
      'another host',
      () => stated({ hostname: 'old.example.org' }),
      refused,
      [['statement', 'for another host']],
    ],
    ['a proof that is old', () => at(301_000), 'token_expired', [['lifetime', 'over']]],
    ['a proof that is to come', () => at(-62_000), 'token_expired', [['lifetime', 'to come']]],
    [
      'a proof for long',
      () => {
        const { iat } = open.scene.state()
        return stated({ exp: iat + 301 })
      },
      'token_expired',
      [['lifetime', 'not made for at most 300 seconds']],
    ],
    [
      'a proof that is over before it begins',
      () => {
        const { iat } = open.scene.state()
        return stated({ exp: iat })
      },
      'token_expired',
      [['lifetime', 'not made for at most 300 seconds']],
    ],
    ['a statement that says more', () => stated({ admin: true }), refused, []],
    ['no signature (alg none)', () => open.forge({ alg: 'none' }), refused, []],
    [
      'the certificate as a secret (HS256)',
      () =>
        open.forge({ alg: 'HS256' }, (input) =>
          createHmac('sha256', open.host.pem).update(input).digest(),
        ),
      refused,
      [],
    ],
    ['an algorithm of another key', () => open.forge({ alg: 'EdDSA' }), refused, unsigned],
    [
      'the digest of another curve',
      () => {
        const curve = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384']
        const own = ownOf(curve)
        return open.forge({ x5c: [own, open.middle].map(derOf) }, signWith(own.keyPem))
      },
      refused,
      unsigned,
    ],
    [
      'an RSA signature with another salt',
      () => {
        const own = ownOf(['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'])
        const padding = constants.RSA_PKCS1_PSS_PADDING
        const key = { key: own.keyPem, padding, saltLength: 20 }
        return open.forge({ alg: 'PS256', x5c: [own, open.middle].map(derOf) }, (input) =>
          sign('sha256', Buffer.from(input), key),
        )
      },
      refused,
      unsigned,
    ],
    ['a key in its header (jwk)', () => open.forge({ jwk: { kty: 'oct', k: 'AA' } }), refused, []],
    [
      'a place of certificates in its header (x5u)',
      () => open.forge({ x5u: 'http://127.0.0.1:1/' }),
      refused,
      [],
    ],
    ['a header that is to be understood (crit)', () => open.forge({ crit: ['exp'] }), refused, []],
    ['another kind of JWS', () => open.forge({ typ: 'JWT' }), refused, []],
    [
      'the key of somebody else',
      () => open.forge({}, signWith(open.root.keyPem)),
      refused,
      unsigned,
    ],
    [
      'a signature in DER',
      () => open.forge({}, (input) => sign('sha256', Buffer.from(input), open.host.keyPem)),
      refused,
      unsigned,
    ],
    [
      'a statement that was changed',
      async () => {
        const [, , header, , signature] = (await stated({ role: 'db' })).split('.')
        return `svcp.x5c.${header}.${encode(open.scene.state())}.${signature}`
      },
      refused,
      unsigned,
    ],
    [
      'five certificates',
      () =>
        open.forge({
          x5c: [open.host, open.middle, open.middle, open.middle, open.root].map(derOf),
        }),
      refused,
      [],
    ],
    [
      'more than 8 KiB',
      () =>
        open.forge({
          x5c: [open.host, open.middle, open.middle, open.middle].map((each) =>
            derOf(each).repeat(4),
          ),
        }),
      refused,
      [],
    ],
    ['a certificate that is none', () => open.forge({ x5c: ['AAAA'] }), refused, []],
    [
      'a JWS without our name for it',
      async () => (await open.prove([open.host, open.middle])).replace('svcp.x5c.', ''),
      refused,
      [],
    ],
    [
      'the name of another method',
      async () => (await open.prove([open.host, open.middle])).replace('.x5c.', '.ssh.'),
      refused,
      [],
    ],
    [
      'a name that the pattern has not',
      () => stated({ hostname: 'a.b.example.org' }),
      'hostname_mismatch',
      [['proof_name', 'not among the DNS names of the certificate']],
    ],
  ]
  for (const [how, token, refusal, said] of cheats) {
    const name = said[0]?.join(': ') ?? 'nothing'
    test(`${how} is refused as ${refusal}, named by ${name}`, async () => {
      await open.trust()
      const asked = open.scene.authority.asked.length
      const hostname = how === 'a name that the pattern has not' ? 'a.b.example.org' : HOST
      assert.equal(await open.scene.ask(await token(), { hostname }), refusal)
      assert.deepEqual(open.scene.refusals(), said)
      assert.equal(open.scene.authority.asked.length, asked)
    })
  }

  test('[JNR-25] whether a CA is trusted nobody learns from a refusal before the signature', async () => {
    await open.trust()
    const unknown = open.pki.make('Nobody knows', { extensions: CA_EXTENSIONS })
    const extensions = hostExtensions(HOST)
    const chains = [unknown, open.middle].map((issuer) => {
      return [open.pki.make('x', { issuer, extensions }), issuer].map(derOf)
    })
    const { iat } = open.scene.state()
    const hour = 3600
    const changes: [Partial<HostStatement>, string][] = [
      [{ iat: iat - hour, exp: iat - hour + 240 }, 'token_expired'],
      [{ iat: iat + hour, exp: iat + hour + 240 }, 'token_expired'],
      [{ exp: iat + hour }, 'token_expired'],
      [{ hubs: ['evil.example.org'] }, 'token_not_found'],
      [{}, 'token_not_found'],
    ]
    for (const [changed, refusal] of changes) {
      for (const x5c of chains) {
        const token = open.forge({ x5c }, () => Buffer.alloc(64, 1), open.scene.state(changed))
        assert.equal(await open.scene.ask(token), refusal, JSON.stringify(changed))
      }
    }
    const known = [['lifetime', 'over'], ['statement', 'for another hub'], ...unsigned]
    assert.deepEqual(open.scene.refusals(), known, 'the log names what is of a rule')
  })

  test('a proof that somebody copied is of no use with another certificate request', async () => {
    await open.trust()
    const token = await open.prove([open.host, open.middle])
    assert.equal(await open.scene.ask(token, { csr_pem: OTHER_CSR_PEM }), refused)
    assert.deepEqual(open.scene.refusals(), [['statement', 'for another certificate request']])
  })
})
