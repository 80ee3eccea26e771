import assert from 'node:assert/strict'
import { test } from 'node:test'
import { explainHost, type Host, listHelp, listSteps, orderDeliveries } from './explain-host.ts'

const NOW_MS = Date.parse('2026-01-31T12:00:00Z')
const LATER = '2026-01-31T18:00:00.000Z'
const EARLIER = '2026-01-31T11:00:00.000Z'

type Delivery = Host['entregas'][number]
type Entry = Parameters<typeof listSteps>[0][number]

function deliveryWith(changes: Partial<Delivery> = {}): Delivery {
  return {
    id: 'e1',
    carga_id: 'c1',
    agente_id: 'a1',
    hostname: 'web-3',
    tipo: 'csr_cert',
    nome: 'site',
    versao: 7,
    status: 'instalada',
    updated_at: EARLIER,
    erro: null,
    reverted_at: null,
    alvos_revertidos: [],
    waiting_reason: null,
    waiting_reason_at: null,
    ...changes,
  }
}

function hostWith(changes: Partial<Host> = {}): Host {
  return {
    id: 'a1',
    hostname: 'web-3',
    role: 'web',
    last_seen_at: EARLIER,
    last_poll_at: EARLIER,
    revoked_at: null,
    created_at: EARLIER,
    cert_serial: '0a',
    cert_not_after: LATER,
    atrasado: false,
    atrasado_since: null,
    duplicado: null,
    agent_version: '0.4.0',
    platform: 'linux-x64',
    addresses: [],
    first_seen_at: EARLIER,
    last_contact_at: EARLIER,
    online_since: EARLIER,
    ca_revocations_waiting: 0,
    ca_revocations_refused: 0,
    ca_revocation_reason: null,
    labels: [],
    recipient_fingerprint: null,
    politicas: ['web'],
    entregas: [deliveryWith()],
    certificados: [],
    roots: null,
    refusals: [],
    ...changes,
  }
}

function explain(changes: Partial<Host>) {
  return explainHost(hostWith(changes), NOW_MS)
}

test('the worst comes first', () => {
  const failed = deliveryWith({ status: 'falhou', erro: 'hook: exit 1' })
  const waits = deliveryWith({
    waiting_reason: 'csr_cn_mismatch: politica web',
    status: 'pendente',
  })
  const late = { atrasado: true, atrasado_since: EARLIER }
  const duplicado = { since: EARLIER, last_at: EARLIER, addresses: ['10.0.0.1', '10.0.0.2'] }
  const all = { ...late, duplicado, entregas: [waits, failed] }
  assert.equal(explain({ ...all, revoked_at: EARLIER, cert_not_after: EARLIER }).kind, 'revoked')
  assert.equal(explain({ ...all, cert_not_after: EARLIER }).kind, 'expired')
  assert.equal(explain(all).kind, 'duplicated')
  assert.equal(explain({ ...all, duplicado: null }).kind, 'failed')
  assert.equal(explain({ ...late, entregas: [waits] }).kind, 'refused')
  assert.equal(explain({ ...late, online_since: null }).kind, 'late')
  assert.equal(explain({}).kind, 'well')
})

test('a host whose agent never asked for anything is not well: somebody has to start it', () => {
  const never = { last_poll_at: null, online_since: null, last_contact_at: null }
  const host = hostWith(never)
  const verdict = explainHost(host, NOW_MS)
  assert.deepEqual(verdict, { kind: 'unheard', endsAt: LATER })
  assert.deepEqual(listHelp(verdict, host), [
    { kind: 'command', where: 'host', command: 'systemctl enable --now svc-agent' },
    { kind: 'command', where: 'host', command: 'svc-agent run' },
  ])
  assert.equal(explain({ ...never, atrasado: true, atrasado_since: EARLIER }).kind, 'unheard')
  assert.equal(explain({ ...never, cert_not_after: EARLIER }).kind, 'expired')
  assert.equal(explain({ ...never, online_since: EARLIER }).kind, 'well')
})

test('a target that was taken back is a failure, though its status is not', () => {
  const verdict = explain({
    entregas: [deliveryWith({ reverted_at: EARLIER, erro: 'probe: 502' })],
  })
  assert.ok(verdict.kind === 'failed')
  assert.equal(verdict.reason, 'probe: 502')
})

test('names that a politica forbids are helped at the politica or the carga; the CA by the hub’s doctor', () => {
  const helpFor = (reason: string) => {
    const host = hostWith({
      entregas: [deliveryWith({ status: 'pendente', waiting_reason: reason })],
    })
    return listHelp(explainHost(host, NOW_MS), host).map((help) =>
      help.kind === 'command' ? help.command : help.kind,
    )
  }
  assert.deepEqual(helpFor('csr_cn_mismatch: the politica web'), ['policy', 'cargo'])
  assert.deepEqual(helpFor('ca_failed: no answer within 10 s'), ['policy', 'svc doctor'])
})

test('names that a politica forbids are final for the agent, and helped at the politica too', () => {
  const helpFor = (erro: string) => {
    const host = hostWith({ entregas: [deliveryWith({ status: 'falhou', erro })] })
    return listHelp(explainHost(host, NOW_MS), host).map(({ kind }) => kind)
  }
  assert.deepEqual(helpFor('csr_cn_mismatch'), ['policy', 'cargo', 'retry', 'command'])
  assert.deepEqual(helpFor('hook: exit 1'), ['cargo', 'retry', 'command'])
})

test('deliveries stand by cargo, the newest version first, what is wrong above all', () => {
  const ordered = orderDeliveries([
    deliveryWith({ nome: 'motd', versao: 12 }),
    deliveryWith({ nome: 'site', versao: 6 }),
    deliveryWith({ nome: 'site', versao: 7, status: 'falhou' }),
    deliveryWith({ nome: 'api-tls', versao: 1 }),
  ])
  assert.deepEqual(
    ordered.map(({ nome, versao }) => `${nome} v${versao}`),
    ['site v7', 'site v6', 'api-tls v1', 'motd v12'],
  )
})

function entry(
  seq: number,
  tipo: string,
  payload: Record<string, unknown> = {},
  changes: Partial<Entry> = {},
): Entry {
  return {
    seq,
    id: `id ${seq}`,
    agente_id: null,
    tipo_evento: tipo,
    payload,
    payload_text: '',
    entrega_id: null,
    request_id: null,
    timestamp: EARLIER,
    hash_anterior: '',
    hash_atual: '',
    ...changes,
  }
}

test('the steps are those of the carga that failed and of the politicas that hold for the host, oldest first', () => {
  const host = hostWith({ entregas: [deliveryWith({ status: 'falhou' })] })
  const verdict = explainHost(host, NOW_MS)
  const entries = [
    entry(9, 'entrega_falhou', {}, { agente_id: 'a1', entrega_id: 'e1' }),
    entry(8, 'entrega_falhou', {}, { agente_id: 'a1', entrega_id: 'another' }),
    entry(7, 'politica_set', { role: 'web' }),
    entry(6, 'politica_set', { role: 'db' }),
    entry(5, 'politica_set', { role: '*' }),
    entry(4, 'carga_updated', { carga_id: 'another' }),
    entry(3, 'carga_updated', { carga_id: 'c1' }),
    entry(2, 'agent_enrolled', { agente_id: 'a1' }),
  ]
  assert.deepEqual(
    listSteps(entries, verdict, host).map(({ seq }) => seq),
    [3, 5, 7, 9],
  )
  assert.deepEqual(listSteps(entries, { kind: 'well', renewalAt: undefined }, host), [])
})
