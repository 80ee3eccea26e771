// Enrolments by a host's own key of OpenSSH: docs/protocol.md JNR-23 to JNR-25, JNR-27 to JNR-29. Keys, certificates, known_hosts and
// signatures are ssh-keygen's.

import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { after, before, describe, test } from 'node:test'
import { OTHER_CSR_PEM } from '../../../../test/support/proof-scene.ts'
import { lastSeq, readActs } from '../../../../test/support/recorded-acts.ts'
import {
  NAMESPACE,
  openSshScene,
  type SshScene,
  withSignature,
} from '../../../../test/support/ssh-scene.ts'
import { withTools } from '../../../../test/support/tools.ts'
import { readSshHostKey } from '../../../agent/identity/ssh-host-key.ts'
import { sshNumber, SshReader } from '../../../ssh/wire.ts'

const MINUTE_MS = 60_000
const P256_ORDER = BigInt('0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551')

const installed = withTools('ssh-keygen')
let open: SshScene
before(async () => {
  if (installed.skip === false) open = await openSshScene()
})
after(async () => {
  if (installed.skip === false) await open[Symbol.asyncDispose]()
})

const as = (hostname: string) => ({ statement: open.scene.state({ hostname }) })

describe('[JNR-27] a host whose SSH key known_hosts has', installed, () => {
  for (const type of ['ed25519', 'ecdsa-256', 'ecdsa-384', 'rsa-2048'] as const) {
    test(`enrols with ${type}, and so it does as the agent signs`, async () => {
      const { scene, keys, trust, prove } = open
      const own = keys.make(type)
      const [one, two] = [`one-${type}.example.org`, `two-${type}.example.org`]
      await trust(`${one},${two},192.0.2.1 ${own.publicLine} a comment`)
      assert.match(await scene.ask(prove(own, as(one)), { hostname: one }), /^chain/)
      const read = readSshHostKey({
        keyPath: own.path,
        keyText: own.privateText,
        certificateText: undefined,
      })
      const message = Buffer.from(JSON.stringify(scene.state({ hostname: two })))
      const token = await read.prove(message)
      assert.match(await scene.ask(token, { hostname: two }), /^chain/)
      const sshsig = Buffer.from(token.split('.')[3] ?? '', 'base64url')
      assert.equal(keys.check(NAMESPACE, message, sshsig), true)
      assert.equal(keys.check('file', message, sshsig), false)
    })
  }

  test('enrols with an old RSA or ECDSA key in PEM, as the agent signs', async () => {
    const { scene, keys, trust } = open
    for (const type of ['rsa-2048', 'ecdsa-256'] as const) {
      const own = keys.make(type, { isPem: true })
      assert.match(own.privateText, /BEGIN (RSA|EC) PRIVATE KEY/)
      const hostname = `pem-${type}.example.org`
      await trust(`${hostname} ${own.publicLine}`)
      const read = readSshHostKey({
        keyPath: '',
        keyText: own.privateText,
        certificateText: undefined,
      })
      const token = await read.prove(Buffer.from(JSON.stringify(scene.state({ hostname }))))
      assert.match(await scene.ask(token, { hostname }), /^chain/)
    }
  })

  test('[JNR-29] by a name that is hashed, and the log has the fingerprint', async () => {
    const { scene, keys, host, other, trust, prove } = open
    const hostname = 'hashed.example.org'
    const hashed = keys.hashed(`${hostname} ${host.publicLine}`)
    assert.match(hashed, /^\|1\|/)
    const made = await trust(
      hashed,
      '# a comment',
      '',
      'x ssh-dss AAAA',
      `[b.example.org]:2222 ${other.publicLine}`,
    )
    assert.deepEqual(made.ssh, { keys: 1, authorities: [], revoked: 0, ignored: 2 })
    assert.match(
      made.agent_command,
      /SVC_ENROLL_SSH_HOST_KEY=\/etc\/ssh\/ssh_host_ed25519_key svc-agent enroll$/,
    )
    const seq = await lastSeq(scene.store.reader)
    const chain = await scene.ask(prove(host, as(hostname)), { hostname })
    assert.match(chain, /^chain/)
    const acts = await readActs(scene.store.reader, seq)
    const [said] = acts.flatMap(([type, payload]) => (type === 'agent_enrolled' ? [payload] : []))
    assert.equal((said as Record<string, string>)['ssh_key'], keys.fingerprint(host))
    // A reply that was lost: a new proof.
    scene.clock.pass(MINUTE_MS)
    assert.equal(await scene.ask(prove(host, as(hostname)), { hostname }), chain)
    const csr_sha256 = hash(
      'sha256',
      Buffer.from(OTHER_CSR_PEM.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64'),
    )
    const again = prove(host, { statement: scene.state({ hostname, csr_sha256 }) })
    assert.equal(await scene.ask(again, { hostname, csr_pem: OTHER_CSR_PEM }), 'token_consumed')
  })

  test('by an ECDSA signature that was turned around is the same host, and no other', async () => {
    const { scene, keys, other, trust, prove } = open
    const own = keys.make('ecdsa-256')
    const hostname = 'turned.example.org'
    await trust(`${hostname} ${own.publicLine}`, `b.example.org ${other.publicLine}`)
    const turned = prove(own, { ...as(hostname), change: turnAround })
    const chain = await scene.ask(prove(own, as(hostname)), { hostname })
    assert.equal(await scene.ask(turned, { hostname }), chain)
    assert.equal(await scene.ask(turned, { hostname: 'b.example.org' }), 'token_not_found')
  })
})

describe('[JNR-28] a host with a certificate of an SSH CA', installed, () => {
  for (const type of ['ed25519', 'ecdsa-256', 'rsa-2048'] as const) {
    test(`of ${type} enrols under each of its principals, and the log names the CA`, async () => {
      const { scene, keys, trust, prove } = open
      const ca = keys.make(type)
      const own = keys.make('ed25519')
      const hostname = `ca-${type}.example.org`
      const certificate = keys.certify(own, ca, [
        '-h',
        '-n',
        `short,${hostname}`,
        '-z',
        '7',
        '-V',
        '-1h:+1h',
      ])
      const made = await trust(`@cert-authority *.example.org,!db.example.org ${ca.publicLine}`)
      assert.deepEqual(made.ssh, {
        keys: 0,
        authorities: [keys.fingerprint(ca)],
        revoked: 0,
        ignored: 0,
      })
      const seq = await lastSeq(scene.store.reader)
      assert.match(
        await scene.ask(prove(own, { ...as(hostname), certificate }), { hostname }),
        /^chain/,
      )
      const acts = await readActs(scene.store.reader, seq)
      const [said] = acts.flatMap(([name, payload]) => (name === 'agent_enrolled' ? [payload] : []))
      const { ssh_ca, ssh_serial, ssh_key_id } = said as Record<string, string>
      assert.deepEqual([ssh_ca, ssh_serial, ssh_key_id], [keys.fingerprint(ca), '7', 'an id'])
    })
  }

  test('that known_hosts names needs no certificate, and one is no harm', async () => {
    const { scene, keys, other, trust, prove } = open
    const hostname = 'both.example.org'
    const own = keys.make('ed25519')
    const certificate = keys.certify(own, other, ['-h', '-n', 'whoever'])
    await trust(`${hostname} ${own.publicLine}`)
    assert.match(
      await scene.ask(prove(own, { ...as(hostname), certificate }), { hostname }),
      /^chain/,
    )
  })
})

/** Anybody makes (r, n-s) of (r, s), and it is as good. */
function turnAround(sshsig: Buffer): Buffer {
  return withSignature(sshsig, (name, bytes) => {
    const reader = new SshReader(bytes)
    const [r, s] = [reader.number(), reader.number()]
    const turned = (P256_ORDER - BigInt(`0x${s.toString('hex')}`)).toString(16).padStart(64, '0')
    return [name, Buffer.concat([sshNumber(r), sshNumber(Buffer.from(turned, 'hex'))])]
  })
}
