// POST /v1/events and what it does: docs/protocol.md EVT and DEL.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type LoggedEvent, readEvents } from '../support/audit-log.ts'
import { createDelivery, findDelivery, type ListedDelivery } from '../support/deliveries.ts'
import {
  createKeyAndCsr,
  enrollHost,
  type EnrolledHost,
  readIdentity,
  withIdentity,
} from '../support/enrolled-host.ts'
import { useHub } from '../support/use-hub.ts'
import {
  assertOk,
  assertRefused,
  post,
  postBytes,
  send,
  type WireReply,
} from '../support/wire-client.ts'

const { hub } = useHub()

const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'

const report = (host: EnrolledHost, event: object): Promise<WireReply> =>
  post(host.mtls, '/v1/events', event)

const deliver = async (host: EnrolledHost, nome: string): Promise<string> =>
  (await createDelivery(hub, host.hostname, nome)).id

const deliveryOf = (id: string): Promise<ListedDelivery | undefined> => findDelivery(hub, id)

const lastSeenOf = async (host: EnrolledHost): Promise<string | null> => {
  const body = { agente: host.hostname }
  const path = '/v1/admin/agentes/show'
  return (await hub.admin<{ last_seen_at: string | null }>('POST', path, body)).last_seen_at
}

/** Runs the request and answers the entries that it appended. */
async function appendedBy(work: () => Promise<unknown>): Promise<LoggedEvent[]> {
  const { length } = await readEvents(hub)
  await work()
  return (await readEvents(hub)).slice(length)
}

describe('an accepted event', () => {
  test('[EVT-5] [EVT-7] is answered with evento_id and hash_atual, and is the new last entry', async () => {
    const host = await enrollHost(hub, 'reports.example')
    const payload = { hostname: 'reports.example', nested: { a: [1, 'é', null, true] } }
    let reply: WireReply | undefined
    const [entry, ...more] = await appendedBy(async () => {
      reply = await report(host, { tipo_evento: 'agent_started', payload })
    })
    assert.ok(reply)
    assertOk(reply)
    assert.deepEqual(Object.keys(reply.json).sort(), ['evento_id', 'hash_atual'])
    assert.match(reply.json['hash_atual'] as string, /^[0-9a-f]{64}$/)
    assert.deepEqual(more, [])
    assert.deepEqual(
      [entry?.id, entry?.hash_atual, entry?.agente_id, entry?.tipo_evento],
      [reply.json['evento_id'], reply.json['hash_atual'], host.agentId, 'agent_started'],
    )
    assert.deepEqual([entry?.entrega_id, entry?.request_id], [null, null])
    assert.deepEqual(entry?.payload, payload)
  })

  test('[EVT-8] sets the agent’s last_seen_at, and a refused one does not', async () => {
    const host = await enrollHost(hub, 'seen.example')
    assertRefused(await report(host, { tipo_evento: 'X', payload: {} }), 400, 'request_invalid')
    const unknown = { tipo_evento: 'entrega_falhou', payload: {}, entrega_id: UNKNOWN_ID }
    assertRefused(await report(host, unknown), 404, 'entrega_not_found')
    assert.equal(await lastSeenOf(host), null)
    const sinceMs = Date.now()
    assertOk(await report(host, { tipo_evento: 'agent_started', payload: {} }))
    const seenMs = Date.parse((await lastSeenOf(host)) ?? '')
    assert.ok(seenMs >= sinceMs && seenMs <= Date.now())
  })

  test('[EVT-6] [EVT-15] [EVT-16] [EVT-18] [EVT-19] [EVT-20] [EVT-21] may be of any type of the right form', async () => {
    const host = await enrollHost(hub, 'types.example')
    const known = ['agent_started', 'cert_renewed', 'entrega_instalada', 'entrega_falhou']
    const others = [
      'manifest_pulled',
      'hook_falhou',
      'entrega_entregue',
      'x',
      'a9_',
      'agent_revoked',
    ]
    const types = [...known, ...others, `a${'b'.repeat(63)}`]
    const appended = await appendedBy(async () => {
      for (const tipo_evento of types) {
        assertOk(await report(host, { tipo_evento, payload: { count: 1 } }))
      }
    })
    assert.deepEqual(
      appended.map(({ tipo_evento, agente_id }) => [tipo_evento, agente_id]),
      types.map((type) => [type, host.agentId]),
    )
  })

  test('[EVT-6] named agent_revoked or certificate_issued is only an event: nothing happens', async () => {
    const host = await enrollHost(hub, 'pretends.example')
    assertOk(await report(host, { tipo_evento: 'agent_revoked', payload: { actor: 'admin' } }))
    assertOk(await send(host.mtls, { path: '/v1/manifest' }))
  })
})

describe('the shape of an event', () => {
  test('[EVT-1] [EVT-6] 400 request_invalid for a tipo_evento of another form', async () => {
    const host = await enrollHost(hub, 'bad-types.example')
    const wrong = ['', 'X', '1a', '_a', 'a-b', 'a b', 'a.b', 'á', 'aB', 'a\n', `a${'b'.repeat(64)}`]
    for (const tipo_evento of [...wrong, 1, null, ['a'], undefined]) {
      const reply = await report(host, { tipo_evento, payload: {} })
      assert.deepEqual([tipo_evento, reply.text], [tipo_evento, '{"error":"request_invalid"}'])
    }
  })

  test('[EVT-2] 400 request_invalid for a payload that is no object', async () => {
    const host = await enrollHost(hub, 'bad-payloads.example')
    for (const payload of [undefined, null, 'x', 1, true, [], [{}]]) {
      const reply = await report(host, { tipo_evento: 'x', payload })
      assertRefused(reply, 400, 'request_invalid')
    }
  })

  test('[EVT-3] 400 request_invalid for an entrega_id that is no UUID in lower case', async () => {
    const host = await enrollHost(hub, 'bad-ids.example')
    for (const entrega_id of [null, 1, '', 'x', UNKNOWN_ID.toUpperCase().replace('4', 'A')]) {
      const reply = await report(host, { tipo_evento: 'x', payload: {}, entrega_id })
      assertRefused(reply, 400, 'request_invalid')
    }
  })

  test('[EVT-4] [LIM-9] request_id is a string of at most 128 characters, or null, or absent', async () => {
    const host = await enrollHost(hub, 'request-ids.example')
    const event = { tipo_evento: 'x', payload: {} }
    for (const request_id of [null, undefined, 'r', 'r'.repeat(128)]) {
      assertOk(await report(host, { ...event, request_id }))
    }
    for (const request_id of [1, true, {}, [], 'r'.repeat(129)]) {
      assertRefused(await report(host, { ...event, request_id }), 400, 'request_invalid')
    }
  })

  test('[EVT-12] [LIM-3] 400 request_invalid for a payload over 16 KiB', async () => {
    const host = await enrollHost(hub, 'large.example')
    const most = { filler: 'x'.repeat(16 * 1024 - '{"filler":""}'.length) }
    assertOk(await report(host, { tipo_evento: 'x', payload: most }))
    const more = { filler: `${most.filler}x` }
    assertRefused(await report(host, { tipo_evento: 'x', payload: more }), 400, 'request_invalid')
  })

  test('[EVT-12] [LIM-4] 400 request_invalid for a payload that is nested deeper than 32 levels', async () => {
    const host = await enrollHost(hub, 'deep.example')
    const nested = (levels: number): string => '{"a":'.repeat(levels) + '1' + '}'.repeat(levels)
    const body = (levels: number): string => `{"tipo_evento":"x","payload":${nested(levels - 1)}}`
    assertOk(await postBytes(host.mtls, '/v1/events', body(32)))
    for (const levels of [33, 1000, 9000]) {
      const reply = await postBytes(host.mtls, '/v1/events', body(levels))
      assertRefused(reply, 400, 'request_invalid')
    }
    const arrays = `{"tipo_evento":"x","payload":{"a":${'['.repeat(30_000)}${']'.repeat(30_000)}}}`
    assertRefused(await postBytes(host.mtls, '/v1/events', arrays), 400, 'request_invalid')
  })

  test('[EVT-12] 400 request_invalid for numbers that do not survive, and only for those', async () => {
    const host = await enrollHost(hub, 'numbers.example')
    const body = (number: string): string => `{"tipo_evento":"x","payload":{"n":${number}}}`
    const lossy = ['9007199254740993', '1e400', '-1e400', '0.12345678901234567890', '1e-400']
    for (const number of [...lossy, '123456789012345678901234567890']) {
      const reply = await postBytes(host.mtls, '/v1/events', body(number))
      assert.deepEqual([number, reply.text], [number, '{"error":"request_invalid"}'])
    }
    const exact = ['0', '-0', '1.50', '1e3', '1E+3', '9007199254740992', '0.1', '1e21', '5e-324']
    for (const number of [...exact, '-1.25e-7', '100000000000000000000']) {
      const reply = await postBytes(host.mtls, '/v1/events', body(number))
      assert.deepEqual([number, reply.status], [number, 200])
    }
  })
})

describe('deliveries', () => {
  const moves = ['instalada', 'entregue', 'falhou'] as const
  const table: Readonly<Record<string, readonly string[]>> = {
    // from: where entrega_instalada, entrega_entregue and entrega_falhou lead.
    pendente: ['instalada', 'entregue', 'falhou'],
    em_andamento: ['instalada', 'entregue', 'falhou'],
    falhou: ['instalada', 'entregue', 'falhou'],
    instalada: ['instalada', 'entregue', 'instalada'],
    entregue: ['entregue', 'entregue', 'entregue'],
  }

  for (const [from, targets] of Object.entries(table)) {
    for (const [index, move] of moves.entries()) {
      const to = targets[index]
      test(`[EVT-9] [EVT-14] [EVT-17] [DEL-6] [DEL-7] [DEL-8] [DEL-11] entrega_${move} moves ${from} to ${to}, and is recorded`, async () => {
        const name = `${from.replace('_', '-')}-${move}`
        const host = await enrollHost(hub, `${name}.example`)
        const id = await deliver(host, 'site')
        await bring(host, id, from)
        assert.equal((await deliveryOf(id))?.status, from)
        const event = { tipo_evento: `entrega_${move}`, payload: { erro: 'why' }, entrega_id: id }
        const [entry, ...more] = await appendedBy(async () => assertOk(await report(host, event)))
        assert.deepEqual([entry?.entrega_id, entry?.tipo_evento], [id, `entrega_${move}`])
        assert.deepEqual(more, [])
        assert.equal((await deliveryOf(id))?.status, to)
      })
    }
  }

  async function bring(host: EnrolledHost, id: string, status: string): Promise<void> {
    if (status === 'pendente') return
    if (status === 'em_andamento') {
      const { csrPem } = await createKeyAndCsr(host.hostname)
      const body = { csr_pem: csrPem, entrega_id: id }
      assertOk(await post(host.mtls, '/v1/certs/issue', body))
      return
    }
    const event = { tipo_evento: `entrega_${status}`, payload: {}, entrega_id: id }
    assertOk(await report(host, event))
  }

  test('[DEL-8] the reason of a failure is kept, and gone when it is installed after all', async () => {
    const host = await enrollHost(hub, 'erro.example')
    const id = await deliver(host, 'site')
    const failed = { tipo_evento: 'entrega_falhou', payload: { erro: 'disk is read-only' } }
    assertOk(await report(host, { ...failed, entrega_id: id }))
    assert.deepEqual((await deliveryOf(id))?.erro, 'disk is read-only')
    const event = { tipo_evento: 'entrega_instalada', payload: {}, entrega_id: id }
    assertOk(await report(host, event))
    assert.equal((await deliveryOf(id))?.erro, null)
  })

  test('[EVT-9] other types with an entrega_id, and those types without one, move nothing', async () => {
    const host = await enrollHost(hub, 'unmoved.example')
    const id = await deliver(host, 'site')
    const other = { tipo_evento: 'cert_renewed', payload: {}, entrega_id: id }
    assertOk(await report(host, other))
    assertOk(await report(host, { tipo_evento: 'entrega_instalada', payload: {} }))
    assert.equal((await deliveryOf(id))?.status, 'pendente')
  })

  test('[EVT-10] 404 entrega_not_found for one that is unknown or another agent’s: nothing is recorded', async () => {
    const host = await enrollHost(hub, 'prober.example')
    const owner = await enrollHost(hub, 'victim.example')
    const foreign = await deliver(owner, 'theirs')
    const appended = await appendedBy(async () => {
      for (const entrega_id of [UNKNOWN_ID, foreign]) {
        const event = { tipo_evento: 'entrega_instalada', payload: {}, entrega_id }
        assertRefused(await report(host, event), 404, 'entrega_not_found')
      }
    })
    assert.deepEqual(appended, [])
    assert.equal((await deliveryOf(foreign))?.status, 'pendente')
    assert.equal(await lastSeenOf(host), null)
  })

  test('[EVT-13] entrega_instalada makes an unused identity that no entrega_id came with the delivered one', async () => {
    const host = await enrollHost(hub, 'old-agent.example')
    const id = await deliver(host, 'site')
    const { keyPem, csrPem } = await createKeyAndCsr('old-agent.example')
    const reply = await post(host.mtls, '/v1/certs/issue', { csr_pem: csrPem })
    assertOk(reply)
    const event = { tipo_evento: 'entrega_instalada', payload: {}, entrega_id: id }
    assertOk(await report(host, event))
    const delivered = withIdentity(hub, readIdentity(reply, keyPem))
    const refused = await send(delivered, { path: '/v1/manifest' })
    assertRefused(refused, 401, 'agent_not_registered')
    assertOk(await send(host.mtls, { path: '/v1/manifest' }))
  })

  test('[EVT-13] but never an identity that was used', async () => {
    const host = await enrollHost(hub, 'used-agent.example')
    const id = await deliver(host, 'site')
    const event = { tipo_evento: 'entrega_instalada', payload: {}, entrega_id: id }
    assertOk(await report(host, event))
    assertOk(await send(host.mtls, { path: '/v1/manifest' }))
  })
})

describe('request_id', () => {
  test('[EVT-11] the same event again gets the first answer, and is recorded once', async () => {
    const host = await enrollHost(hub, 'repeats.example')
    const id = await deliver(host, 'site')
    const event = {
      tipo_evento: 'entrega_falhou',
      payload: { erro: 'x' },
      entrega_id: id,
      request_id: 'same',
    }
    const first = await report(host, event)
    assertOk(first)
    // It moved on in between: what was answered before moves nothing back.
    const installed = { tipo_evento: 'entrega_entregue', payload: {}, entrega_id: id }
    assertOk(await report(host, installed))
    const appended = await appendedBy(async () => {
      const again = await report(host, event)
      assertOk(again)
      assert.deepEqual(again.json, first.json)
    })
    assert.deepEqual(appended, [])
    assert.equal((await deliveryOf(id))?.status, 'entregue')
  })

  test('[EVT-11] [ERR-21] 409 request_id_conflict for a different event, and nothing is recorded', async () => {
    const host = await enrollHost(hub, 'conflicts.example')
    const id = await deliver(host, 'site')
    const event = { tipo_evento: 'x', payload: { a: 1 }, request_id: 'r' }
    assertOk(await report(host, event))
    const appended = await appendedBy(async () => {
      for (const change of [
        { tipo_evento: 'y' },
        { payload: { a: 2 } },
        { payload: {} },
        { entrega_id: id },
      ]) {
        const reply = await report(host, { ...event, ...change })
        assertRefused(reply, 409, 'request_id_conflict')
      }
    })
    assert.deepEqual(appended, [])
  })

  test('[EVT-11] those of two agents never meet', async () => {
    const event = { tipo_evento: 'x', payload: {}, request_id: 'shared' }
    const one = await report(await enrollHost(hub, 'agent-a.example'), event)
    const other = await report(await enrollHost(hub, 'agent-b.example'), event)
    assertOk(one)
    assertOk(other)
    assert.notEqual(one.json['evento_id'], other.json['evento_id'])
  })

  test('[EVT-11] concurrent copies of one event are one entry with one answer', async () => {
    const host = await enrollHost(hub, 'copies.example')
    const event = { tipo_evento: 'x', payload: {}, request_id: 'copied' }
    const appended = await appendedBy(async () => {
      const replies = await Promise.all(Array.from({ length: 16 }, () => report(host, event)))
      for (const reply of replies) assertOk(reply)
      assert.equal(new Set(replies.map(({ text }) => text)).size, 1)
    })
    assert.equal(appended.length, 1)
  })
})
