// The fields of `svc … --json`, as scripts rely on them: docs/protocol.md CLI-22 to CLI-28.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { startDevCa } from '../support/dev-ca.ts'
import { enrollHost, type EnrolledHost } from '../support/enrolled-host.ts'
import type { TestHub } from '../support/hub.ts'
import { startTestHub } from '../support/test-hub.ts'
import type { RunningCa } from '../support/running-ca.ts'
import { assertOk, post, send } from '../support/wire-client.ts'

type Row = Readonly<Record<string, unknown>>

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z$/
const CARGA = 'id, tipo, nome, versao, sans, where, created_at, statuses'
const ENTREGA =
  'id, carga_id, agente_id, hostname, tipo, nome, versao, status, updated_at, erro, reverted_at, alvos_revertidos, waiting_reason, waiting_reason_at'
const EVENTO =
  'seq, id, agente_id, hostname, tipo_evento, payload, payload_text, entrega_id, request_id, timestamp, hash_anterior, hash_atual'

let ca: RunningCa
let hub: TestHub
let host: EnrolledHost

before(async () => {
  ca = await startDevCa()
  hub = await startTestHub({ caEnvironment: ca.environment })
  host = await enrollHost(hub, 'web-1.example')
})
after(async () => {
  await hub?.[Symbol.asyncDispose]()
  await ca?.[Symbol.asyncDispose]()
})

async function svcJson<T = Row>(command: string): Promise<T> {
  const { status, stdout, stderr } = await hub.svc(...command.split(' '), '--json')
  assert.deepEqual([status, stderr], [0, ''], command)
  return JSON.parse(stdout) as T
}

/** The one list of a document. */
async function listOf(command: string, plural: string): Promise<readonly Row[]> {
  const document = await svcJson<Readonly<Record<string, Row[]>>>(command)
  assert.deepEqual(Object.keys(document), [plural])
  return document[plural] ?? []
}

const fieldsOf = (row: Row | undefined): string => Object.keys(row ?? {}).join(', ')

describe('the JSON of svc', () => {
  test('[CLI-22] [VER-3] of a token has these fields, and its text only when it is made', async () => {
    const made = await svcJson('token create --hostname web-2.example --role web')
    const listed = 'id, hostname, role, expires_at, consumed_at, created_at, labels, mismatches'
    assert.equal(fieldsOf(made), `${listed}, token, agent_command, note`)
    assert.match(String(made['expires_at']), TIME)
    const tokens = await listOf('token list', 'tokens')
    assert.deepEqual(tokens.map(fieldsOf), [listed, listed])
    const consumedAt = tokens.map(({ consumed_at }) => consumed_at)
    assert.equal(consumedAt[0], null)
    assert.match(String(consumedAt[1]), TIME)
    assert.equal(fieldsOf(await svcJson('token revoke web-2.example')), listed)
  })

  test('[CLI-23] of an agente has these fields', async () => {
    const userAgent = 'svc-agent/9.8.7 (linux-arm64; instance=0123456789abcdef)'
    assertOk(await send(host.mtls, { path: '/v1/manifest', headers: { 'user-agent': userAgent } }))
    const agente =
      'id, hostname, role, last_seen_at, last_poll_at, revoked_at, created_at, cert_serial, cert_not_after, atrasado, atrasado_since, duplicado, agent_version, platform, addresses, first_seen_at, last_contact_at, online_since, ca_revocations_waiting, ca_revocations_refused, ca_revocation_reason, labels'
    const [listed, ...others] = await listOf('agente list', 'agentes')
    assert.equal(fieldsOf(listed), agente)
    assert.deepEqual(others, [])
    const shown = await svcJson('agente show web-1.example')
    assert.equal(
      fieldsOf(shown),
      `${agente}, recipient_fingerprint, politicas, entregas, certificados, roots, refusals`,
    )
    assert.equal(shown['recipient_fingerprint'], null)
    assert.deepEqual(shown['refusals'], [])
    // [CLI-182]
    const [inUse] = await listOf('certificado list', 'certificados')
    assert.equal(
      fieldsOf(inUse),
      'id, agente_id, hostname, purpose, nome, entrega_id, serial, not_before, not_after, state, renewal_expected_at',
    )
    assert.deepEqual(shown['certificados'], [inUse])
    // [CLI-183]
    const { hits } = await svcJson('search web-1')
    assert.deepEqual(hits, [
      { kind: 'agente', id: shown['id'], title: 'web-1.example', matched: 'hostname' },
    ])
    for (const field of ['last_poll_at', 'created_at', 'cert_not_after']) {
      assert.match(String(shown[field]), TIME, field)
    }
    assert.match(String(shown['cert_serial']), /^[0-9a-f]+$/)
    // [AUT-18] As the hub saw the host on its last request.
    const { agent_version, platform, addresses, duplicado, online_since } = shown
    assert.deepEqual(
      { agent_version, platform, addresses, duplicado, online_since },
      {
        agent_version: '9.8.7',
        platform: 'linux-arm64',
        addresses: ['127.0.0.1'],
        duplicado: null,
        online_since: null,
      },
    )
    assert.equal(shown['first_seen_at'], shown['created_at'])
    assert.match(String(shown['last_contact_at']), TIME)
    const { last_seen_at, revoked_at } = shown
    assert.deepEqual({ last_seen_at, revoked_at }, { last_seen_at: null, revoked_at: null })
  })

  test('[CLI-40] [MET-14] of the status has these fields', async () => {
    const status = await svcJson('status')
    assert.equal(
      fieldsOf(status),
      'version, hub, agentes, certificados, entregas, survival, mudanca, rollouts, freeze, survival_on_time',
    )
    const survival = status['survival'] as Row
    assert.equal(fieldsOf(survival), 'seconds, first, following_1h, following_24h')
    const first = survival['first'] as Row
    assert.equal(fieldsOf(first), 'hostname, purpose, nome, not_after, atrasado')
    assert.deepEqual(
      [first['hostname'], first['purpose'], first['nome'], first['atrasado']],
      ['web-1.example', 'identity', null, false],
    )
    const seconds = survival['seconds'] as number
    assert.ok(seconds > 86_000 && seconds <= 86_400, String(seconds))
    assert.deepEqual([survival['following_1h'], survival['following_24h']], [0, 0])
    const onTime = status['survival_on_time'] as Row
    assert.equal(fieldsOf(onTime), 'seconds, first, losing')
    const firstOnTime = onTime['first'] as Row
    assert.equal(fieldsOf(firstOnTime), 'agente_id, hostname, purpose, nome, not_after')
    assert.equal(firstOnTime['hostname'], 'web-1.example')
    const losing = onTime['losing'] as { hours: number; agentes: number }[]
    assert.deepEqual(
      losing.map(({ hours }) => hours),
      [1, 3, 6, 24, 30],
    )
  })

  test('[CLI-24] [CLI-25] of a carga and its entregas has these fields', async () => {
    const made = await svcJson<Row & { entregas: Row[] }>(
      'carga create --tipo csr_cert --nome site --agente web-1.example --san site.example',
    )
    assert.equal(fieldsOf(made), 'carga_id, entregas')
    assert.deepEqual(made.entregas.map(fieldsOf), ['id, agente_id, hostname'])
    const cargas = await listOf('carga list', 'cargas')
    assert.deepEqual(cargas.map(fieldsOf), [CARGA])
    assert.deepEqual(cargas[0]?.['sans'], ['site.example'])
    const entregas = await listOf('entrega list', 'entregas')
    assert.deepEqual(entregas.map(fieldsOf), [ENTREGA])
    const { carga_id, versao, status, erro } = entregas[0] ?? {}
    assert.deepEqual([carga_id, versao, status, erro], [made['carga_id'], 1, 'pendente', null])
    const shown = await svcJson<{ entregas: Row[] }>('agente show web-1.example')
    assert.deepEqual(shown.entregas, entregas)
    const cancelled = await svcJson(`entrega cancel ${String(entregas[0]?.['id'])}`)
    assert.equal(fieldsOf(cancelled), ENTREGA)
  })

  test('[POL-16] of a politica has these fields', async () => {
    const politica =
      'role, nome, token_ttl_max, cert_ttl, sans_permitidos, sans_nomeados, cargas_automaticas, reenroll'
    const set = await svcJson('politica set web --token-ttl-max 30m')
    assert.equal(fieldsOf(set), `${politica}, cargas_afetadas`)
    assert.equal(set['token_ttl_max'], 1800)
    assert.deepEqual((await listOf('politica list', 'politicas')).map(fieldsOf), [politica])
    const shown = await svcJson('politica show web')
    assert.equal(fieldsOf(shown), `${politica}, agentes, cargas_afetadas`)
    assert.deepEqual(shown['agentes'], ['web-1.example'])
    assert.equal(fieldsOf(await svcJson('politica remove web')), `${politica}, cargas_afetadas`)
  })

  test('[CLI-26] [CLI-27] of an evento has these fields, and the verification stands beside the list', async () => {
    const event = { tipo_evento: 'agent_started', payload: { hostname: 'web-1.example' } }
    assertOk(await post(host.mtls, '/v1/events', event))
    const eventos = await listOf('evento list', 'eventos')
    for (const evento of eventos) assert.equal(fieldsOf(evento), EVENTO)
    const { payload, payload_text, agente_id, timestamp } = eventos.at(-1) ?? {}
    assert.deepEqual(payload, event.payload)
    assert.equal(payload_text, JSON.stringify(event.payload))
    assert.equal(agente_id, host.agentId)
    assert.match(String(timestamp), TIME)
    const verified = await svcJson<Row & { eventos: Row[] }>('evento list --verify --limit 1')
    assert.equal(fieldsOf(verified), 'eventos, ok, count, head, first_bad, checkpoint')
    assert.deepEqual(verified.eventos, eventos.slice(-1))
    const { ok, count, head, first_bad } = verified
    assert.deepEqual(
      { ok, count, head, first_bad },
      { ok: true, count: eventos.length, head: eventos.at(-1)?.['hash_atual'], first_bad: null },
    )
  })

  test('[CLI-44] [CLI-45] [CLI-46] of a bundle has these fields', async () => {
    const bundle =
      'numero, epoca, created_at, roots, certificados_unknown, file_differs, agentes, pendentes'
    const shown = await svcJson<{ roots: Row[]; pendentes: Row[] }>('bundle status')
    assert.equal(fieldsOf(shown), bundle)
    assert.equal(
      fieldsOf(shown.roots[0]),
      'fingerprint, subject, not_before, not_after, is_valid, is_hubs_own, certificados',
    )
    assert.equal(fieldsOf(shown.pendentes[0]), 'id, hostname, numero, is_pinned, erro, reported_at')
    const updated = await svcJson<{ is_changed: boolean; endangered: Row[] }>('bundle update')
    assert.equal(fieldsOf(updated), `${bundle}, is_changed, rollout, endangered`)
    assert.deepEqual([updated.is_changed, updated.endangered], [false, []])
  })
})

describe('the JSON of svc webhook', () => {
  test('[CLI-36] has these fields, and the secret only when one is made', async () => {
    const listed =
      'id, url, tipos, where, state, backlog, dead, attempts, next_attempt_at, last_success_at, last_error_at, erro, seq, created_at, disabled_at'
    const made = await svcJson('webhook create --url http://127.0.0.1:1/in --tipo none --force')
    assert.equal(fieldsOf(made), `${listed}, secret`)
    const id = String(made['id'])
    assert.deepEqual((await listOf('webhook list', 'webhooks')).map(fieldsOf), [listed])
    const shown = await svcJson(`webhook show ${id}`)
    assert.equal(fieldsOf(shown), `${listed}, dead_messages`)
    const { url, tipos, state, backlog, dead_messages } = shown
    assert.deepEqual(
      { url, tipos, state, backlog, dead_messages },
      {
        url: 'http://127.0.0.1:1/in',
        tipos: ['none'],
        state: 'active',
        backlog: 0,
        dead_messages: [],
      },
    )
    for (const command of [`replay ${id}`, `remove ${id}`]) {
      assert.equal(fieldsOf(await svcJson(`webhook ${command}`)), listed)
    }
  })
})

describe('the nouns of svc', () => {
  const aliases = { agente: 'agent', carga: 'load', entrega: 'delivery', evento: 'event' }
  for (const [noun, alias] of Object.entries(aliases)) {
    test(`[CLI-16] ${alias} is ${noun}`, async () => {
      assert.deepEqual(await svcJson(`${alias} list`), await svcJson(`${noun} list`))
    })
  }
})
