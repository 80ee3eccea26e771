// Whom to seal for: the `recipient` of enroll, and PUT /v1/recipient. docs/protocol.md BLB.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type LoggedEvent, readEvents } from '../support/audit-log.ts'
import {
  createKeyAndCsr,
  enrollHost,
  type EnrolledHost,
  readIdentity,
  withIdentity,
} from '../support/enrolled-host.ts'
import { createAgeKeys, fingerprintOf } from '../support/sealed-files.ts'
import { useCa, useHub } from '../support/use-hub.ts'
import { assertOk, assertRefused, post, put, send, type WireReply } from '../support/wire-client.ts'

const { hub } = useHub()
const { startHub } = useCa()
const { recipient } = await createAgeKeys()
const { recipient: another } = await createAgeKeys()

const tell = (host: EnrolledHost, value: unknown): Promise<WireReply> =>
  put(host.mtls, '/v1/recipient', { recipient: value })

const shownOf = async (host: EnrolledHost): Promise<string | null> => {
  const body = { agente: host.hostname }
  const shown = await hub.admin<{ recipient_fingerprint: string | null }>(
    'POST',
    '/v1/admin/agentes/show',
    body,
  )
  return shown.recipient_fingerprint
}

const changesOf = async ({ agentId }: EnrolledHost): Promise<LoggedEvent[]> =>
  (await readEvents(hub, 'recipient_changed')).filter(
    ({ payload }) => payload['agente_id'] === agentId,
  )

const partiesOf = (changes: readonly LoggedEvent[]): unknown[] =>
  changes.map(({ payload: { from, to } }) => [from, to])

describe('the recipient of an agent', () => {
  test('[BLB-1] [BLB-2] [BLB-4] comes with its enrolment, and is shown and recorded by fingerprint', async () => {
    const host = await enrollHost(hub, 'tells.example', { recipient })
    assert.equal(await shownOf(host), fingerprintOf(recipient))
    const [change, ...more] = await changesOf(host)
    assert.deepEqual(more, [])
    assert.equal(change?.agente_id, null)
    assert.deepEqual(change.payload, {
      actor: 'token',
      agente_id: host.agentId,
      hostname: 'tells.example',
      from: null,
      to: fingerprintOf(recipient),
    })
    assert.equal(change.payload_text.includes('age1pq1'), false)
  })

  test('[BLB-2] is optional, and one of another form is request_invalid and spends no token', async () => {
    const host = await enrollHost(hub, 'silent.example')
    assert.equal(await shownOf(host), null)
    assert.deepEqual(await changesOf(host), [])
    const wrong = ['', 'age1pq1', recipient.slice(1), `${recipient}q`, recipient.toUpperCase(), 7]
    const token = await hub.createToken({ hostname: 'wrong.example' })
    const { csrPem: csr_pem } = await createKeyAndCsr('wrong.example')
    const body = { token, hostname: 'wrong.example', role: 'web', csr_pem }
    const enroll = (fields: object): Promise<WireReply> =>
      send(
        { port: hub.ports.enroll },
        {
          method: 'POST',
          path: '/v1/enroll',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ ...body, ...fields }),
        },
      )
    for (const value of wrong) {
      assertRefused(await enroll({ recipient: value }), 400, 'request_invalid')
    }
    assertOk(await enroll({ recipient }))
  })

  test('[BLB-2] [ENR-17] is part of what a repeated enrolment repeats', async () => {
    const hostname = 'repeats.example'
    const token = await hub.createToken({ hostname })
    const { csrPem: csr_pem } = await createKeyAndCsr(hostname)
    const body = { token, hostname, role: 'web', csr_pem, recipient }
    const enroll = (fields: object): Promise<WireReply> =>
      send(
        { port: hub.ports.enroll },
        {
          method: 'POST',
          path: '/v1/enroll',
          headers: { 'content-type': 'application/json', 'idempotency-key': 'k' },
          body: JSON.stringify(fields),
        },
      )
    const first = await enroll(body)
    assertOk(first)
    assert.equal((await enroll(body)).text, first.text)
    const { recipient: _, ...without } = body
    for (const changed of [without, { ...body, recipient: another }]) {
      assertRefused(await enroll(changed), 401, 'token_consumed')
    }
    const changes = await readEvents(hub, 'recipient_changed')
    assert.equal(changes.filter(({ payload }) => payload['hostname'] === hostname).length, 1)
  })

  test('[BLB-2] [BLB-4] goes, and that is recorded, when its host is enrolled again without one', async () => {
    const host = await enrollHost(hub, 'rebuilt.example', { recipient })
    await enrollHost(hub, 'rebuilt.example', { reenroll: true, recipient })
    await enrollHost(hub, 'rebuilt.example', { reenroll: true, recipient: another })
    await enrollHost(hub, 'rebuilt.example', { reenroll: true })
    assert.equal(await shownOf(host), null)
    assert.deepEqual(partiesOf(await changesOf(host)), [
      [null, fingerprintOf(recipient)],
      [fingerprintOf(recipient), fingerprintOf(another)],
      [fingerprintOf(another), null],
    ])
  })
})

describe('PUT /v1/recipient', () => {
  test('[BLB-3] [BLB-4] [SRF-3] answers what the hub has now; the same again changes nothing', async () => {
    const host = await enrollHost(hub, 'puts.example')
    for (const value of [recipient, recipient, another, another]) {
      const reply = await tell(host, value)
      assertOk(reply)
      assert.deepEqual(reply.json, { recipient: value })
    }
    const changes = await changesOf(host)
    assert.deepEqual(partiesOf(changes), [
      [null, fingerprintOf(recipient)],
      [fingerprintOf(recipient), fingerprintOf(another)],
    ])
    assert.deepEqual(
      changes.map(({ agente_id, payload }) => [agente_id, payload['actor']]),
      [
        [null, 'agent'],
        [null, 'agent'],
      ],
    )
    assert.equal(await shownOf(host), fingerprintOf(another))
  })

  test('[BLB-3] [SRF-8] [ERR-2] [ERR-23] is checked like a POST', async () => {
    const host = await enrollHost(hub, 'checked.example')
    const classic = `age1${'q'.repeat(58)}`
    for (const value of [
      undefined,
      null,
      7,
      '',
      'age1pq1',
      classic,
      `${recipient}\n`,
      [recipient],
    ]) {
      assertRefused(await tell(host, value), 400, 'request_invalid')
    }
    const sendBody = (type: string, body: string): Promise<WireReply> =>
      send(host.mtls, {
        method: 'PUT',
        path: '/v1/recipient',
        headers: { 'content-type': type },
        body,
      })
    assertRefused(await sendBody('text/plain', '{}'), 415, 'unsupported_media_type')
    assertRefused(await sendBody('application/json', '{'), 400, 'json_invalid')
    assertRefused(await sendBody('application/json', ' '.repeat(65_537)), 413, 'body_too_large')
    const noType = await send(host.mtls, { method: 'PUT', path: '/v1/recipient' })
    assertRefused(noType, 415, 'unsupported_media_type')
    assert.equal(await shownOf(host), null)
  })

  test('[SRF-15] [ERR-19] is the only method of its path', async () => {
    const host = await enrollHost(hub, 'methods.example')
    for (const method of ['GET', 'POST', 'DELETE', 'PATCH']) {
      const reply = await send(host.mtls, { method, path: '/v1/recipient' })
      assertRefused(reply, 405, 'method_not_allowed')
      assert.equal(reply.headers.allow, 'PUT')
    }
  })

  test('[BLB-3] [AUT-3] a revoked agent tells nothing any more', async () => {
    const host = await enrollHost(hub, 'revoked.example', { recipient })
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: host.hostname })
    assertRefused(await tell(host, another), 401, 'agent_revoked')
    assert.equal((await changesOf(host)).length, 1)
  })

  test('[BLB-3] within its grace an identity tells no other recipient than its successor', async () => {
    const host = await enrollHost(hub, 'cloned.example', { recipient })
    assertOk(await tell(host, recipient))
    const { keyPem, csrPem } = await createKeyAndCsr(host.hostname)
    const renewed = await post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem })
    const mtls = withIdentity(hub, readIdentity(renewed, keyPem))
    assertOk(await tell({ ...host, mtls }, recipient))
    assertOk(await tell(host, recipient))
    assertRefused(await tell(host, another), 401, 'certificate_superseded')
    assert.equal(await shownOf(host), fingerprintOf(recipient))
    assertOk(await tell({ ...host, mtls }, another))
  })

  test('[BLB-3] [LIM-12] counts for the rate of events', async () => {
    await using slow = await startHub({ SVC_LIMIT_EVENTS: '1' })
    const host = await enrollHost(slow, 'talker.example')
    const replies: WireReply[] = []
    for (let count = 0; count < 20; count += 1) replies.push(await tell(host, recipient))
    for (const reply of replies.slice(0, 10)) assertOk(reply)
    const refused = replies.find(({ status }) => status === 429)
    assert.ok(refused)
    assertRefused(refused, 429, 'rate_limited')
    assert.match(refused.headers['retry-after'] ?? '', /^[1-9]\d*$/)
  })

  test('[BLB-3] [LIM-20] a change is not taken when the disk is nearly full, the same one again is', async () => {
    await using full = await startHub({ SVC_LIMIT_FREE_SPACE: '999999999999' })
    const host = await enrollHost(full, 'full.example', { recipient })
    assertOk(await tell(host, recipient))
    assertRefused(await tell(host, another), 503, 'unavailable')
  })
})
