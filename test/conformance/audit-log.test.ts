// The chain that every event and every act of the hub enters: docs/protocol.md CHN and RES.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { readEvents, sha256sum } from '../support/audit-log.ts'
import { createDelivery } from '../support/deliveries.ts'
import { enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import { waitUntil } from '../support/processes.ts'
import { startHubProcess } from '../support/hub-process.ts'
import { useHub } from '../support/use-hub.ts'
import {
  assertOk,
  assertRefused,
  post,
  postBytes,
  send,
  type WireReply,
} from '../support/wire-client.ts'

const { ca, hub } = useHub()

const report = (host: EnrolledHost, event: object): Promise<WireReply> =>
  post(host.mtls, '/v1/events', event)

describe('the audit log', () => {
  test('[CHN-1] [CHN-2] [CHN-3] [CHN-4] [CHN-5] is a chain that sha256sum confirms', async () => {
    const host = await enrollHost(hub, 'chained.example')
    const awkward = '{"tipo_evento":"x","payload":{ "b" : 1.50 , "a":"\\u00e9\\/\\n", "z":{} }}'
    assertOk(await postBytes(host.mtls, '/v1/events', awkward))
    const concurrent = Array.from({ length: 20 }, (_, n) =>
      report(host, { tipo_evento: 'x', payload: { n } }),
    )
    for (const reply of await Promise.all(concurrent)) assertOk(reply)
    const events = await readEvents(hub)
    assert.deepEqual(
      events.map(({ seq }) => seq),
      events.map((_, index) => index + 1),
    )
    let head = '0'.repeat(64)
    let timestamp = ''
    for (const event of events) {
      assert.equal(event.hash_anterior, head)
      assert.match(event.timestamp, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/)
      assert.ok(event.timestamp >= timestamp)
      assert.deepEqual(JSON.parse(event.payload_text), event.payload)
      head = event.hash_atual
      timestamp = event.timestamp
    }
    // The program is slow to start, so it checks both ends and the awkward one; the hashes above link the rest.
    const ends = [...events.slice(0, 3), ...events.slice(-22)]
    for (const event of ends) {
      const text = event.hash_anterior + event.payload_text + event.timestamp
      assert.equal(await sha256sum(text), event.hash_atual)
    }
  })

  test('[CHN-6] svc evento list --verify confirms it beside the running hub', async () => {
    const { status, stdout } = await hub.svc('evento', 'list', '--verify', '--json')
    assert.equal(status, 0)
    const verified = JSON.parse(stdout) as Record<string, unknown>
    const events = await readEvents(hub)
    assert.deepEqual(
      [verified['ok'], verified['count'], verified['head'], verified['first_bad']],
      [true, events.length, events.at(-1)?.hash_atual, null],
    )
  })

  test('[CHN-7] [RES-9] has the hub’s own acts, without a sender and with the actor', async () => {
    const host = await enrollHost(hub, 'acts.example')
    await createDelivery(hub, host.hostname, 'site')
    await hub.createToken({ hostname: 'acts-token.example' })
    await hub.admin('POST', '/v1/admin/tokens/revoke', { token: 'acts-token.example' })
    await hub.admin('POST', '/v1/admin/agentes/revoke', { agente: 'acts.example' })
    // In the background, so that the log grows on its own until then.
    await waitUntil('the CA to have revoked its certificate', async () =>
      (await readEvents(hub, 'certificate_revoked_at_ca')).length > 0 ? true : undefined,
    )
    const acts = (await readEvents(hub)).filter(({ agente_id }) => agente_id === null)
    for (const { payload } of acts) assert.equal(typeof payload['actor'], 'string')
    const types = new Set(acts.map(({ tipo_evento }) => tipo_evento))
    for (const type of [
      'token_created',
      'token_revoked',
      'agent_enrolled',
      'agent_revoked',
      'certificate_issued',
      'certificate_revoked_at_ca',
      'carga_created',
    ]) {
      assert.ok(types.has(type), type)
    }
  })

  test('[CHN-8] a stranger cannot make it grow', async () => {
    const { length } = await readEvents(hub)
    const body = { token: 'svct_unknown', hostname: 'h', role: 'r', csr_pem: 'c' }
    const ids: string[] = []
    for (let n = 0; n < 5; n += 1) {
      const reply = await post({ port: hub.ports.enroll }, '/v1/enroll', body)
      assertRefused(reply, 401, 'token_not_found')
      ids.push(String(reply.headers['x-request-id']))
    }
    // Of the others it says how many there were, later. docs/protocol.md LOG-4.
    const [first = ''] = ids
    await waitUntil(
      'the first refusal in the log',
      () => hub.logText().includes(first) || undefined,
    )
    assert.equal((await readEvents(hub)).length, length)
  })

  test('[RES-8] [CHN-1] what was acknowledged is there after kill -9', async () => {
    await using killed = await startHubProcess({ caEnvironment: ca.environment })
    const host = await enrollHost(killed, 'durable.example')
    const replies = await Promise.all(
      Array.from({ length: 10 }, (_, n) => report(host, { tipo_evento: 'x', payload: { n } })),
    )
    await killed.stop('SIGKILL')
    await killed.start()
    const ids = new Set((await readEvents(killed)).map(({ id }) => id))
    for (const reply of replies) assert.ok(ids.has(reply.json['evento_id'] as string))
    assertOk(await send(host.mtls, { path: '/v1/manifest' }))
  })
})
