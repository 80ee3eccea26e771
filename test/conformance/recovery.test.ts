// POST /v1/recover on the wire: docs/protocol.md REC. What may be recovered is decided in decide-recovery.test.ts.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  createKeyAndCsr,
  enrollHost,
  type EnrolledHost,
  readIdentity,
  withIdentity,
} from '../support/enrolled-host.ts'
import { readEvents } from '../support/audit-log.ts'
import { type Recovery, sendRecovery } from '../support/send-recovery.ts'
import { useHub } from '../support/use-hub.ts'
import { assertOk, assertRefused, post, send, type WireReply } from '../support/wire-client.ts'

const { hub } = useHub()

const recover = (recovery: Recovery): Promise<WireReply> => sendRecovery(hub.ports.enroll, recovery)

describe('an agent that recovers', () => {
  test('[REC-1] gets an identity that opens port 8443, and it is recorded', async () => {
    const host = await enrollHost(hub, 'recovered')
    const { keyPem, csrPem } = await createKeyAndCsr('recovered')
    const reply = await recover({ host, csrPem })
    assertOk(reply)
    assert.deepEqual(Object.keys(reply.json).sort(), ['ca_pem', 'cert_pem'])
    const target = withIdentity(hub, readIdentity(reply, keyPem))
    assertOk(await send(target, { path: '/v1/manifest' }))
    const events = await readEvents(hub)
    const event = events.find(({ tipo_evento: type }) => type === 'identity_recovered')
    assert.ok(event)
    assert.equal((event.payload as { hostname: string }).hostname, 'recovered')
  })

  test('[REC-2] uses a proof once', async () => {
    const host = await enrollHost(hub, 'proof-twice')
    const { csrPem } = await createKeyAndCsr('proof-twice')
    const claims = { jti: 'the same' }
    assertOk(await recover({ host, csrPem, claims }))
    assertRefused(await recover({ host, csrPem, claims }), 401, 'recovery_refused')
  })

  const wrong: readonly [string, (host: EnrolledHost) => Promise<Partial<Recovery>>][] = [
    ['for another hub', async () => ({ claims: { aud: 'elsewhere.example' } })],
    ['for another CSR', async () => ({ claims: { csr_sha256: 'A'.repeat(43) } })],
    ['that is old', async () => ({ claims: { iat: Math.floor(Date.now() / 1000) - 400 } })],
    ['without a jti', async () => ({ claims: { jti: undefined } })],
    ['with a long jti', async () => ({ claims: { jti: 'j'.repeat(65) } })],
    ['by another key', async () => ({ signingKeyPem: (await createKeyAndCsr('somebody')).keyPem })],
  ]
  for (const [index, [what, change]] of wrong.entries()) {
    test(`[REC-2] [ERR-16] is refused with a proof ${what}`, async () => {
      const hostname = `wrong-${index}`
      const host = await enrollHost(hub, hostname)
      const { csrPem } = await createKeyAndCsr(hostname)
      const reply = await recover({ host, csrPem, ...(await change(host)) })
      assertRefused(reply, 401, 'recovery_refused')
    })
  }

  test('[REC-2] is refused once revoked, and with a certificate that the hub never made', async () => {
    const host = await enrollHost(hub, 'gone')
    const { csrPem } = await createKeyAndCsr('gone')
    const foreign = { ...host, certPem: host.caPem }
    assertRefused(await recover({ host: foreign, csrPem }), 401, 'recovery_refused')
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: 'gone' })
    assertRefused(await recover({ host, csrPem }), 401, 'recovery_refused')
  })

  test('[ISS-4] gets no name but its own', async () => {
    const host = await enrollHost(hub, 'greedy')
    const { csrPem } = await createKeyAndCsr('somebody-else')
    assertRefused(await recover({ host, csrPem }), 403, 'csr_cn_mismatch')
  })

  for (const [what, body] of [
    ['no body fields', {}],
    ['a proof that is no text', { cert_pem: 'x', csr_pem: 'y', proof: 1 }],
  ] as const) {
    test(`[ERR-2] 400 request_invalid for ${what}`, async () => {
      const reply = await post({ port: hub.ports.enroll }, '/v1/recover', body)
      assertRefused(reply, 400, 'request_invalid')
    })
  }

  test('[REC-2] [ENV-18] grace 0 turns it off', async () => {
    await hub.stop()
    await hub.start({ SVC_RECOVERY_GRACE: '0' })
    const host = await enrollHost(hub, 'no-grace')
    const { csrPem } = await createKeyAndCsr('no-grace')
    assertRefused(await recover({ host, csrPem }), 401, 'recovery_refused')
  })
})
