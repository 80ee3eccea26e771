// Every way to cheat with a certificate, each refused and named: docs/protocol.md JNR-24, JNR-26. Certificates are openssl's.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  type CertificateScene,
  derOf,
  openCertificateScene,
  signWith,
} from '../../../../test/support/certificate-scene.ts'
import {
  CA_EXTENSIONS,
  hostExtensions,
  type MadeCertificate,
} from '../../../../test/support/openssl-pki.ts'
import { HOST } from '../../../../test/support/proof-scene.ts'

let open: CertificateScene
before(async () => {
  open = await openCertificateScene()
})
after(() => open[Symbol.asyncDispose]())

type Cheat = [how: string, token: () => string | Promise<string>, refusal: string, said: string[][]]

const DAY_MS = 86_400_000

describe('[JNR-24] [JNR-26] of every way to cheat with a certificate', () => {
  const leafOf = (issuer: MadeCertificate, extensions: string[]) =>
    open.pki.make('x', { issuer, extensions })
  const named = (names: string[], issuer = open.middle) =>
    open.prove([leafOf(issuer, hostExtensions(...names)), open.middle])
  const withCa = (...extra: string[]) => {
    const ca = open.pki.make('CA', { issuer: open.root, extensions: [...CA_EXTENSIONS, ...extra] })
    return open.prove([leafOf(ca, hostExtensions(HOST)), ca])
  }
  const without = (kind: string, ...others: string[]) => {
    const extensions = hostExtensions(HOST).filter((each) => !each.startsWith(kind))
    return open.prove([leafOf(open.middle, [...extensions, ...others]), open.middle])
  }
  const refused = 'token_not_found'
  const certificate = (detail: string): string[][] => [['certificate', detail]]
  const unsigned = [['signature', 'not signed by the key of the certificate']]
  const rsa = (bits: number) => ['-algorithm', 'RSA', '-pkeyopt', `rsa_keygen_bits:${bits}`]
  const weak = 'a key that is not P-256, P-384, Ed25519 or RSA of 2048 to 4096 bits'

  const cheats: Cheat[] = [
    [
      'another CA',
      async () => {
        const other = open.pki.make('Other', { extensions: CA_EXTENSIONS })
        return open.prove([leafOf(other, hostExtensions(HOST)), other])
      },
      refused,
      [],
    ],
    [
      'another CA of the same name',
      () => {
        const other = open.pki.make('Root', { extensions: CA_EXTENSIONS })
        return open.prove([leafOf(other, hostExtensions(HOST)), other])
      },
      refused,
      certificate('no chain to a CA of the rule'),
    ],
    [
      'a certificate that signs itself under the name of the CA',
      () => open.prove([open.pki.make('Root', { extensions: hostExtensions(HOST) })]),
      refused,
      certificate('no chain to a CA of the rule'),
    ],
    [
      'a certificate that another CA of the name of the intermediate has signed',
      () => {
        const other = open.pki.make('Middle', { extensions: CA_EXTENSIONS })
        const unnamed = [...hostExtensions(HOST), 'authorityKeyIdentifier=none']
        return open.prove([leafOf(other, unnamed), open.middle])
      },
      refused,
      certificate('no chain to a CA of the rule'),
    ],
    ['a chain that is cut', () => open.prove([open.host]), refused, []],
    [
      'a chain in another order',
      () => open.forge({ x5c: [open.middle, open.host].map(derOf) }),
      refused,
      unsigned,
    ],
    [
      'a certificate that is over',
      () => {
        open.scene.clock.pass(11 * DAY_MS)
        return open.prove([open.host, open.middle])
      },
      refused,
      certificate('a certificate that is expired'),
    ],
    [
      'a certificate that is to come',
      () => {
        open.scene.clock.pass(-DAY_MS)
        return open.prove([open.host, open.middle])
      },
      refused,
      certificate('a certificate that is not valid yet'),
    ],
    [
      'the certificate of a CA',
      () =>
        open.prove([
          leafOf(open.middle, [...CA_EXTENSIONS, `subjectAltName=DNS:${HOST}`]),
          open.middle,
        ]),
      refused,
      certificate('the certificate of a CA in place of a host’s'),
    ],
    [
      'the certificate of a host as CA',
      () => open.prove([leafOf(open.host, hostExtensions(HOST)), open.host, open.middle]),
      refused,
      certificate('no chain to a CA of the rule'),
    ],
    [
      'the certificate of a host that may sign certificates, as CA',
      () => {
        const sham = leafOf(open.root, ['basicConstraints=CA:FALSE', 'keyUsage=keyCertSign'])
        return open.prove([leafOf(sham, hostExtensions(HOST)), sham])
      },
      refused,
      certificate('an issuer that is no CA'),
    ],
    [
      'more CAs than one of them allows',
      () => {
        const below = open.pki.make('Below', { issuer: open.middle, extensions: CA_EXTENSIONS })
        return open.prove([leafOf(below, hostExtensions(HOST)), below, open.middle])
      },
      refused,
      certificate('more CAs than one of them allows'),
    ],
    [
      'a CA that may not sign certificates',
      () => {
        const ca = open.pki.make('CA', {
          issuer: open.root,
          extensions: [CA_EXTENSIONS[0], 'keyUsage=cRLSign'],
        })
        return open.prove([leafOf(ca, hostExtensions(HOST)), ca])
      },
      refused,
      certificate('no chain to a CA of the rule'),
    ],
    [
      'a name that the CA may not give',
      () => withCa('nameConstraints=critical,permitted;DNS:example.com'),
      refused,
      certificate('a name that its CA may not give'),
    ],
    [
      'a name that the CA is forbidden',
      () => withCa('nameConstraints=critical,excluded;DNS:example.org'),
      refused,
      certificate('a name that its CA may not give'),
    ],
    [
      'a name beside the CA’s domain',
      () => withCa('nameConstraints=critical,permitted;DNS:b-1.example.org'),
      refused,
      certificate('a name that its CA may not give'),
    ],
    [
      'a CA bound in kinds of names that are not known',
      () => {
        const bounds = 'nameConstraints=critical,excluded;email:evil.example'
        const ca = open.pki.make('CA', {
          issuer: open.root,
          extensions: [...CA_EXTENSIONS, bounds],
        })
        const names = [
          ...hostExtensions(HOST).slice(0, 3),
          `subjectAltName=DNS:${HOST},email:a@example.org`,
        ]
        return open.prove([leafOf(ca, names), ca])
      },
      refused,
      certificate('a name that its CA may not give'),
    ],
    [
      'a certificate for code',
      () => without('extended', 'extendedKeyUsage=codeSigning'),
      refused,
      certificate('a certificate that is for neither a client nor a server'),
    ],
    [
      'a CA for e-mail',
      () => withCa('extendedKeyUsage=emailProtection'),
      refused,
      certificate('a certificate that is for neither a client nor a server'),
    ],
    [
      'a key for encryption alone',
      () => without('keyUsage', 'keyUsage=keyEncipherment'),
      refused,
      certificate('a key that is not for signatures'),
    ],
    [
      'a critical extension that nobody knows',
      () => without('-', '1.2.3.4=critical,ASN1:NULL'),
      refused,
      certificate('a critical extension that is not known'),
    ],
    [
      'a signature by SHA-1',
      () =>
        open.prove([
          open.pki.make('x', {
            issuer: open.middle,
            extensions: hostExtensions(HOST),
            digest: 'sha1',
          }),
          open.middle,
        ]),
      refused,
      certificate('a signature by an algorithm that is not taken'),
    ],
    [
      'another name',
      () => named(['web-2.example.org']),
      'hostname_mismatch',
      [['proof_name', 'not among the DNS names of the certificate']],
    ],
    [
      'a wildcard',
      () => named(['*.example.org']),
      'hostname_mismatch',
      [['proof_name', 'not among the DNS names of the certificate']],
    ],
    [
      'a name that begins as it',
      () => named([`${HOST}.evil.example`]),
      'hostname_mismatch',
      [['proof_name', 'not among the DNS names of the certificate']],
    ],
    [
      'the name in the subject alone',
      () =>
        open.prove([
          open.pki.make(HOST, { issuer: open.middle, extensions: ['basicConstraints=CA:FALSE'] }),
          open.middle,
        ]),
      'hostname_mismatch',
      [['proof_name', 'not among the DNS names of the certificate']],
    ],
    [
      'the name as an e-mail address',
      () => without('subjectAltName', `subjectAltName=email:x@${HOST}`),
      'hostname_mismatch',
      [['proof_name', 'not among the DNS names of the certificate']],
    ],
    [
      'a weak RSA key',
      () => {
        const own = open.pki.make('x', {
          issuer: open.middle,
          extensions: hostExtensions(HOST),
          key: rsa(1024),
        })
        return open.forge(
          { alg: 'PS256', x5c: [own, open.middle].map(derOf) },
          signWith(own.keyPem),
        )
      },
      refused,
      [['signature', weak]],
    ],
    [
      'a key that is slow to verify with, before its signature is looked at',
      () => {
        const own = open.pki.make('x', {
          issuer: open.middle,
          extensions: hostExtensions(HOST),
          key: [...rsa(2048), '-pkeyopt', 'rsa_keygen_pubexp:18446744073709551617'],
        })
        return open.forge({ alg: 'PS256', x5c: [own, open.middle].map(derOf) })
      },
      refused,
      [['signature', 'an RSA exponent of more than 32 bits']],
    ],
    [
      'a key on P-521',
      () => {
        const key = ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-521']
        const own = open.pki.make('x', {
          issuer: open.middle,
          extensions: hostExtensions(HOST),
          key,
        })
        return open.forge({ x5c: [own, open.middle].map(derOf) }, signWith(own.keyPem, 'sha512'))
      },
      refused,
      [['signature', weak]],
    ],
  ]
  for (const [how, token, refusal, said] of cheats) {
    const name = said[0]?.join(': ') ?? 'nothing'
    test(`${how} is refused as ${refusal}, named by ${name}`, async () => {
      await open.trust()
      const asked = open.scene.authority.asked.length
      assert.equal(await open.scene.ask(await token()), refusal)
      assert.deepEqual(open.scene.refusals(), said)
      assert.equal(open.scene.authority.asked.length, asked)
    })
  }
})
