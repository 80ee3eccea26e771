// Join rules for hosts that show a key which they have already: docs/protocol.md JNR-25 to JNR-27.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import {
  CA_EXTENSIONS,
  createOpensslPki,
  hostExtensions,
  type MadeCertificate,
  type OpensslPki,
} from '../../../../test/support/openssl-pki.ts'
import { openProofScene, type ProofScene } from '../../../../test/support/proof-scene.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'

describe('[JNR-26] a rule for hosts with a certificate', () => {
  let pki: OpensslPki
  let scene: ProofScene
  let root: MadeCertificate
  before(async () => {
    pki = createOpensslPki()
    scene = await openProofScene()
    root = pki.make('Root', { extensions: CA_EXTENSIONS })
  })
  after(async () => {
    await scene[Symbol.asyncDispose]()
    pki[Symbol.dispose]()
  })
  const make = (ca: string) => scene.makeRule({ method: 'x5c', x5c: { ca } })

  test('[JNR-29] names its CAs, also in the log, and has no token', async () => {
    const seq = await lastSeq(scene.store.reader)
    const { token, x5c, ssh, jwt, agent_command, name } = await make(root.pem)
    assert.deepEqual([token, ssh, jwt], [undefined, null, null])
    assert.deepEqual(
      x5c?.authorities.map(({ subject }) => subject),
      ['CN=Root'],
    )
    assert.match(x5c?.authorities[0]?.sha256 ?? '', /^[0-9a-f]{64}$/)
    assert.match(
      agent_command,
      /SVC_ENROLL_HOST_CERTIFICATE=\S+ SVC_ENROLL_HOST_KEY=\S+ svc-agent enroll$/,
    )
    const [[, payload] = []] = await readActs(scene.store.reader, seq)
    const said = payload as Record<string, unknown>
    assert.deepEqual([said['x5c'], 'ssh' in said, 'jwt' in said], [x5c, false, false])
    assert.deepEqual((await scene.admin.showJoinRule({ join_rule: name })).x5c, x5c)
  })

  const faults: [how: string, ca: () => string, message: RegExp][] = [
    ['no certificate', () => 'nothing', /are not 1 to 16 certificates/],
    ['too long', () => root.pem + ' '.repeat(65_536), /have more than 65536 characters/],
    ['seventeen', () => root.pem.repeat(17), /are not 1 to 16 certificates/],
    [
      'one that cannot be read',
      () => root.pem.replace(/\n(.{20})/, '\nAAAAAAAAAAAAAAAAAAAA'),
      /cannot be read/,
    ],
    [
      'the certificate of a host',
      () => pki.make('host', { extensions: hostExtensions('web-1.example.org') }).pem,
      /^CN=host cannot be trusted for hosts: an issuer that is no CA$/,
    ],
    [
      'a CA that may not sign certificates',
      () => pki.make('crl', { extensions: [CA_EXTENSIONS[0], 'keyUsage=cRLSign'] }).pem,
      /an issuer whose key is not for certificates$/,
    ],
    [
      'a CA with an extension that nobody knows',
      () => pki.make('odd', { extensions: [...CA_EXTENSIONS, '1.2.3.4=critical,ASN1:NULL'] }).pem,
      /a critical extension that is not known$/,
    ],
  ]
  for (const [how, ca, message] of faults) {
    test(`has no CAs that are ${how}`, async () => {
      await assert.rejects(make(ca()), { code: 'ca_invalid', message })
    })
  }

  test('has what its method asks for, and nothing else', async () => {
    const x5c = { ca: root.pem }
    const code = 'request_invalid'
    await assert.rejects(scene.makeRule({ method: 'x5c' }), { code })
    await assert.rejects(scene.makeRule({ method: 'ssh', x5c }), { code })
    await assert.rejects(scene.makeRule({ method: 'token', x5c }), { code })
  })

  test('[JNR-25] is one of fifty in force that trust one CA; ended ones do not count', async () => {
    const own = pki.make('Busy', { extensions: CA_EXTENSIONS })
    const names: string[] = []
    for (let made = 0; made < 50; made += 1) names.push((await make(own.pem)).name)
    await assert.rejects(make(own.pem), { code: 'join_rules_too_many' })
    await scene.admin.endJoinRule({ join_rule: names[7] ?? '' })
    await make(own.pem)
  })
})
