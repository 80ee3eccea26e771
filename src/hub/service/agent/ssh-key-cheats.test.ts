// Every way to cheat with an SSH key, each refused and named: docs/protocol.md JNR-24, JNR-27, JNR-28. Keys, certificates and signatures
// are ssh-keygen's.

import assert from 'node:assert/strict'
import { hash, sign } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { HOST } from '../../../../test/support/proof-scene.ts'
import type { SshKey } from '../../../../test/support/ssh-keys.ts'
import {
  encode,
  NAMESPACE,
  openSshScene,
  type SshScene,
  withSignature,
} from '../../../../test/support/ssh-scene.ts'
import { withTools } from '../../../../test/support/tools.ts'
import { parseSshPrivateKey } from '../../../ssh/private-key.ts'
import { sshString } from '../../../ssh/wire.ts'

const installed = withTools('ssh-keygen')
let open: SshScene
before(async () => {
  if (installed.skip === false) open = await openSshScene()
})
after(async () => {
  if (installed.skip === false) await open[Symbol.asyncDispose]()
})

type Cheat = [
  how: string,
  token: () => string,
  refusal: string,
  said: string[][],
  lines?: () => string[],
]

describe('[JNR-24] [JNR-27] [JNR-28] of every way to cheat with an SSH key', installed, () => {
  const refused = 'token_not_found'
  const usual = () => [
    `${HOST} ${open.host.publicLine}`,
    `web-2.example.org ${open.other.publicLine}`,
    `@cert-authority *.example.org ${open.authority.publicLine}`,
  ]
  const unsigned = [['signature', 'not signed by the key']]
  const certificate = (detail: string): string[][] => [['certificate', detail]]
  const elsewhere = [['proof_name', 'the key of another host']]
  const certified =
    (args: readonly string[], by: () => SshKey = () => open.authority) =>
    () => {
      const own = open.keys.make('ed25519')
      return open.prove(own, { certificate: open.keys.certify(own, by(), args) })
    }
  const stated = (changes: object) => () =>
    open.prove(open.host, { statement: { ...open.scene.state(), ...changes } })
  const at = (passMs: number) => () => {
    const token = open.prove(open.host)
    open.scene.clock.pass(passMs)
    return token
  }
  const shared = once(() => open.keys.make('ed25519'))
  const rsa = once(() => open.keys.make('rsa-2048'))
  const weak = once(() => open.keys.make('rsa-1024'))

  const cheats: Cheat[] = [
    ['a key that nobody knows', () => open.prove(open.keys.make('ed25519')), refused, []],
    ['the key of another host', () => open.prove(open.other), 'hostname_mismatch', elsewhere],
    [
      'the key of a pattern of hosts',
      () => open.prove(shared()),
      refused,
      [],
      () => [...usual(), `*.example.org ${shared().publicLine}`],
    ],
    [
      'the key of another server on the host',
      () => open.prove(shared()),
      refused,
      [],
      () => [...usual(), `[${HOST}]:2222 ${shared().publicLine}`],
    ],
    ['the key of the CA itself', () => open.prove(open.authority), 'hostname_mismatch', elsewhere],
    [
      'a key that is revoked',
      () => open.prove(open.host),
      refused,
      [['revoked', 'a key that is revoked']],
      () => [...usual(), `@revoked * ${open.host.publicLine}`],
    ],
    [
      'a CA that is revoked',
      certified(['-h', '-n', HOST]),
      refused,
      [['revoked', 'a CA that is revoked']],
      () => [...usual(), `@revoked * ${open.authority.publicLine}`],
    ],
    [
      'a key that is revoked, with a certificate',
      () =>
        open.prove(shared(), {
          certificate: open.keys.certify(shared(), open.authority, ['-h', '-n', HOST]),
        }),
      refused,
      [['revoked', 'a key that is revoked']],
      () => [...usual(), `@revoked x ${shared().publicLine}`],
    ],
    [
      'a key under a name that excludes',
      () => open.prove(shared()),
      refused,
      [],
      () => [...usual(), `!${HOST} ${shared().publicLine}`],
    ],
    [
      'another namespace',
      () => open.prove(open.host, { namespace: 'file' }),
      refused,
      [['signature', 'signed for another purpose']],
    ],
    [
      'a namespace that begins as ours',
      () => open.prove(open.host, { namespace: `${NAMESPACE}2` }),
      refused,
      [['signature', 'signed for another purpose']],
    ],
    [
      'a namespace that was changed',
      () =>
        open.prove(open.host, {
          namespace: 'enroll@cartoriO',
          change: (sig) =>
            Buffer.from(sig.toString('latin1').replace('cartoriO', 'cartorio'), 'latin1'),
        }),
      refused,
      unsigned,
    ],
    [
      'another key in place of its own',
      () =>
        open.prove(open.other, {
          change: (sig) =>
            Buffer.from(
              sig
                .toString('latin1')
                .replace(open.other.blob.toString('latin1'), open.host.blob.toString('latin1')),
              'latin1',
            ),
        }),
      refused,
      unsigned,
    ],
    [
      'a statement that was changed',
      () => {
        const [, , , signature] = open
          .prove(open.host, { statement: open.scene.state({ role: 'db' }) })
          .split('.')
        return `svcp.ssh.${encode(JSON.stringify(open.scene.state()))}.${signature}`
      },
      refused,
      unsigned,
    ],
    [
      'an RSA signature by SHA-1',
      () => open.prove(rsa(), { change: sha1(rsa()) }),
      refused,
      unsigned,
      () => [`${HOST} ${rsa().publicLine}`],
    ],
    [
      'an RSA signature that says it is ECDSA',
      () =>
        open.prove(rsa(), {
          change: (sig) => withSignature(sig, (_, bytes) => ['ecdsa-sha2-nistp256', bytes]),
        }),
      refused,
      unsigned,
      () => [`${HOST} ${rsa().publicLine}`],
    ],
    [
      'an Ed25519 signature under another name',
      () =>
        open.prove(open.host, {
          change: (sig) => withSignature(sig, (_, bytes) => ['ssh-rsa', bytes]),
        }),
      refused,
      unsigned,
    ],
    [
      'a weak RSA key',
      () => open.prove(weak()),
      refused,
      [],
      () => [...usual(), `${HOST} ${weak().publicLine}`],
    ],
    ['an ECDSA key on P-521', () => open.prove(open.keys.make('ecdsa-521')), refused, []],
    [
      'a version of SSHSIG to come',
      () =>
        open.prove(open.host, {
          change: (sig) => {
            sig[9] = 2
            return sig
          },
        }),
      refused,
      [],
    ],
    [
      'a signature with something after it',
      () => open.prove(open.host, { change: (sig) => Buffer.concat([sig, Buffer.alloc(1)]) }),
      refused,
      [],
    ],
    [
      'a signature that is cut',
      () => open.prove(open.host, { change: (sig) => sig.subarray(0, -1) }),
      refused,
      [],
    ],
    ['no signature', () => `svcp.ssh.${encode(JSON.stringify(open.scene.state()))}`, refused, []],
    [
      'the certificate of a user',
      certified(['-n', HOST]),
      refused,
      certificate('a certificate of a user in place of a host’s'),
    ],
    [
      'another CA',
      certified(['-h', '-n', HOST], () => open.other),
      refused,
      certificate('a CA that the rule does not trust'),
    ],
    [
      'a certificate for another principal',
      certified(['-h', '-n', 'web-2.example.org']),
      'hostname_mismatch',
      [['proof_name', 'not among the principals of the certificate']],
    ],
    [
      'a certificate for whoever',
      certified(['-h']),
      'hostname_mismatch',
      [['proof_name', 'not among the principals of the certificate']],
    ],
    [
      'a certificate for a pattern',
      certified(['-h', '-n', '*.example.org']),
      'hostname_mismatch',
      [['proof_name', 'not among the principals of the certificate']],
    ],
    [
      'a certificate that is over',
      certified(['-h', '-n', HOST, '-V', '-2d:-1d']),
      refused,
      certificate('a certificate that is expired'),
    ],
    [
      'a certificate that is to come',
      certified(['-h', '-n', HOST, '-V', '+1d:+2d']),
      refused,
      certificate('a certificate that is not valid yet'),
    ],
    [
      'a critical option that nobody knows',
      certified(['-h', '-n', HOST, '-O', 'critical:only@example.org=x']),
      refused,
      certificate('a critical option that is not known'),
    ],
    [
      'the certificate of another key',
      () =>
        open.prove(open.other, {
          certificate: open.keys.certify(shared(), open.authority, ['-h', '-n', HOST]),
        }),
      refused,
      certificate('the certificate of another key'),
    ],
    [
      'a certificate that was changed',
      () => {
        const own = open.keys.make('ed25519')
        const made = open.keys.certify(own, open.authority, ['-h', '-n', HOST.replace('1', '9')])
        const changed = made.toString('latin1').replace(HOST.replace('1', '9'), HOST)
        return open.prove(own, { certificate: Buffer.from(changed, 'latin1') })
      },
      refused,
      certificate('not signed by its CA'),
    ],
    [
      'a CA that is trusted for other hosts',
      certified(['-h', '-n', HOST]),
      'hostname_mismatch',
      [['proof_name', 'not a host that the CA is trusted for']],
      () => [`@cert-authority *.example.org,!web-*.example.org ${open.authority.publicLine}`],
    ],
    [
      'a CA among the keys of hosts',
      certified(['-h', '-n', HOST]),
      refused,
      certificate('a CA that the rule does not trust'),
      () => [`${HOST} ${open.authority.publicLine}`],
    ],
    [
      'an RSA CA that signs by SHA-1',
      () => {
        const own = open.keys.make('ed25519')
        return open.prove(own, {
          certificate: open.keys.certify(own, rsa(), ['-h', '-n', HOST, '-t', 'ssh-rsa']),
        })
      },
      refused,
      certificate('not signed by its CA'),
      () => [`@cert-authority * ${rsa().publicLine}`],
    ],
    [
      'another hub',
      stated({ hubs: ['evil.example.org'] }),
      refused,
      [['statement', 'for another hub']],
    ],
    ['another role', stated({ role: 'db' }), refused, [['statement', 'for another role']]],
    [
      'another host',
      stated({ hostname: 'web-2.example.org' }),
      refused,
      [['statement', 'for another host']],
    ],
    [
      'another certificate request',
      stated({ csr_sha256: 'b'.repeat(64) }),
      refused,
      [['statement', 'for another certificate request']],
    ],
    ['a proof that is old', at(301_000), 'token_expired', [['lifetime', 'over']]],
    ['a proof that is to come', at(-62_000), 'token_expired', [['lifetime', 'to come']]],
    [
      'a proof for long',
      () => stated({ exp: open.scene.state().iat + 301 })(),
      'token_expired',
      [['lifetime', 'not made for at most 300 seconds']],
    ],
    ['more than 8 KiB', () => `${open.prove(open.host)}.${'A'.repeat(8192)}`, refused, []],
    ['four parts', () => `${open.prove(open.host)}.AA.AA`, refused, []],
    [
      'the name of another method',
      () => open.prove(open.host).replace('.ssh.', '.x5c.'),
      refused,
      [],
    ],
    ['what is no base64url', () => `${open.prove(open.host)}=`, refused, []],
  ]
  for (const [how, token, refusal, said, lines = usual] of cheats) {
    test(`${how} is refused as ${refusal}, named by ${said[0]?.join(': ') ?? 'nothing'}`, async () => {
      await open.trust(...lines())
      const asked = open.scene.authority.asked.length
      assert.equal(await open.scene.ask(token()), refusal)
      assert.deepEqual(open.scene.refusals(), said)
      assert.equal(open.scene.authority.asked.length, asked)
    })
  }

  test('[JNR-22] a role that is not the rule’s is named only to the holder of the key', async () => {
    await open.trust(...usual())
    const statement = open.scene.state({ role: 'db' })
    assert.equal(
      await open.scene.ask(open.prove(open.keys.make('ed25519'), { statement }), { role: 'db' }),
      refused,
    )
    assert.equal(
      await open.scene.ask(open.prove(open.host, { statement }), { role: 'db' }),
      'role_mismatch',
    )
  })
})

/** Made when it is needed first, and kept. */
function once(make: () => SshKey): () => SshKey {
  let made: SshKey | undefined
  return () => (made ??= make())
}

/** What OpenSSH called ssh-rsa until 2021: a good signature by SHA-1. */
function sha1(key: SshKey): (sshsig: Buffer) => Buffer {
  const read = parseSshPrivateKey(key.privateText)
  assert.ok(read.ok)
  const digest = hash('sha512', JSON.stringify(open.scene.state()), 'buffer')
  const fields = [NAMESPACE, '', 'sha512', digest].map(sshString)
  const signed = Buffer.concat([Buffer.from('SSHSIG'), ...fields])
  return (sshsig) =>
    withSignature(sshsig, () => ['ssh-rsa', sign('sha1', signed, read.key.keyObject)])
}
