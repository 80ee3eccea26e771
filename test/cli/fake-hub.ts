// A vault that is held as a running hub holds it, with an admin socket that answers from memory.

import { CARGO, fakeCargoes } from './fake-cargoes.ts'
import { randomUUID } from 'node:crypto'
import { lockVault } from '../../src/hub/vault/vault.ts'
import { toRecorded } from '../../src/admin/commands/evento/verify-log.ts'
import { formatRecord } from '../../src/audit/record.ts'
import { NO_BACKUPS } from '../support/no-backups.ts'
import { NO_CHANGES } from '../support/no-changes.ts'
import { startAdminServer } from '../../src/hub/http/admin-server.ts'
import { GENESIS_HASH, hashEntry } from '../../src/audit/hash-chain.ts'
import { AdminRefusal } from '../../src/hub/service/admin-act.ts'
import { createLogging } from '../../src/platform/logger.ts'
import { Secret } from '../../src/platform/secret.ts'
import type { AdminOperations } from '../../src/protocol/admin/operations.ts'
import type {
  AdminAgent,
  AdminBundle,
  AdminDelivery,
  AdminEntry,
  AdminUpdatedBundle,
} from '../../src/protocol/admin/views.ts'
import type { AdminAccessToken } from '../../src/protocol/admin/admin-tokens.ts'
import { initCheapVault } from '../support/cheap-vault.ts'
import { logOf } from '../support/made-export.ts'
import { AGENT, CERTIFICATE, SHOWN_OF_AGENT } from './fake-agent.ts'
import { WEBHOOK } from './fake-webhook.ts'
import {
  addSealedOperations,
  createSealedState,
  type SealedState,
} from './fake-sealed-operations.ts'
import { FLEET_OPERATIONS } from './fake-declared.ts'
import { EXAMINATION } from './fake-examination.ts'
import { FLEET_SUMMARY } from './fake-summary.ts'
import { HUB } from './fake-hub-row.ts'
import { JOIN_RULE_OPERATIONS } from './fake-join-rules.ts'
import { ROLLOUT_OPERATIONS, ROLLOUT_STATUS } from './fake-rollouts.ts'
import { POLICIES } from './fake-policies.ts'
import { SEGMENTS } from './fake-segments.ts'
import { PASSKEY_OPERATIONS } from './fake-passkeys.ts'
import { SESSION_OPERATIONS } from './fake-sessions.ts'

const REVOCATION = {
  id: 'c0ffee'.padEnd(64, '0'),
  agente_id: AGENT.id,
  hostname: AGENT.hostname,
  serial: '0a1b2c',
  purpose: 'identity',
  state: 'waiting',
  revoked_at: '2026-11-21T10:10:00.000Z',
  not_after: '2026-11-22T10:00:00.000Z',
  // What the CA says is shown, but never obeyed by a terminal.
  reason: 'the CA could not revoke (503): away\u001b[2J',
} as const
const DELIVERY = {
  id: '7d1c2b3a-0f0f-4c4c-8d8d-1a2b3c4d5e33',
  carga_id: CARGO.id,
  agente_id: AGENT.id,
  hostname: AGENT.hostname,
  tipo: 'csr_cert',
  nome: 'site',
  versao: 1,
  status: 'falhou',
  updated_at: '2026-11-20T12:00:00.000Z',
  // What an agent reports is shown, but never obeyed by a terminal.
  erro: 'disk full\u001b[2J',
  reverted_at: null,
  alvos_revertidos: [],
  waiting_reason: null,
  waiting_reason_at: null,
}

const BUNDLE: AdminBundle = {
  numero: 2,
  epoca: 1,
  created_at: '2026-11-21T09:00:00.000Z',
  roots: ['1a', '2b'].map((byte, at) => ({
    fingerprint: byte.repeat(32),
    subject: `CN=Root ${at + 1}`,
    not_before: '2026-01-01T00:00:00.000Z',
    not_after: '2036-01-01T00:00:00.000Z',
    is_valid: true,
    is_hubs_own: at === 0,
    certificados: 3 - at,
  })),
  certificados_unknown: 0,
  file_differs: true,
  agentes: 2,
  pendentes: [
    {
      id: AGENT.id,
      hostname: AGENT.hostname,
      numero: 1,
      is_pinned: false,
      erro: null,
      reported_at: '2026-11-20T09:00:00.000Z',
    },
  ],
}

function updateBundle(isForced: boolean, numero = 3): AdminUpdatedBundle {
  if (!isForced) {
    throw new AdminRefusal(
      'bundle_in_use',
      `1 agent needs a root that this would remove: ${AGENT.hostname}`,
    )
  }
  const endangered = [{ hostname: AGENT.hostname, reasons: ['identity 0a1b2c'] }]
  return { ...BUNDLE, numero, file_differs: false, is_changed: true, rollout: null, endangered }
}

/** Fewer than asked for: a log of a few hundred has several pages. */
const RECORD_PAGE_ENTRIES = 500
const toRecord = (entry: AdminEntry): string => formatRecord(toRecorded(entry))

export interface FakeHub {
  readonly entries: AdminEntry[]
  readonly sealed: SealedState
  close(): Promise<void>
}

export async function startFakeHub(
  vaultRoot: string,
  passphrase: string,
  entries: AdminEntry[] = createEntries(3),
): Promise<FakeHub> {
  await initCheapVault(vaultRoot, new Secret(passphrase))
  const lock = lockVault(vaultRoot)
  const sealed = createSealedState(AGENT)
  const operations = addSealedOperations(createFakeOperations(entries), sealed)
  const hub: FakeHub = {
    entries,
    sealed,
    close: async () => {
      await server.close()
      lock.release()
    },
  }
  const server = await startAdminServer({
    socketPath: `${vaultRoot}/admin.sock`,
    performOperation: (name, request) =>
      (operations[name] as (asked: object) => Promise<object>)(request),
    backups: NO_BACKUPS,
    changes: NO_CHANGES,
    logging: createLogging({ filter: { levelOf: () => 'off' }, format: 'json' }),
  })
  return hub
}

/** A good chain, whose times are a second apart. */
export function createEntries(count: number): AdminEntry[] {
  const entries: AdminEntry[] = []
  let previous = GENESIS_HASH
  for (let seq = 1; seq <= count; seq += 1) {
    const payload = { hostname: AGENT.hostname, seq }
    const payloadText = JSON.stringify(payload)
    const timestamp = `${new Date(Date.UTC(2026, 10, 20) + seq * 1000).toISOString().slice(0, -1)}000Z`
    const hash = hashEntry(previous, payloadText, timestamp)
    entries.push({
      seq,
      id: randomUUID(),
      agente_id: AGENT.id,
      tipo_evento: seq % 2 === 1 ? 'agent_started' : 'cert_renewed',
      payload,
      payload_text: payloadText,
      entrega_id: null,
      request_id: null,
      timestamp,
      hash_anterior: previous,
      hash_atual: hash,
    })
    previous = hash
  }
  return entries
}

type OtherOperations = Omit<AdminOperations, 'listRecipients' | 'readContent'>

function createFakeOperations(entries: readonly AdminEntry[]): OtherOperations {
  const token = {
    id: '3f8a0c5e9b7d2416',
    hostname: 'web-2.example.org',
    role: 'web',
    expires_at: '2026-11-21T11:00:00.000Z',
    consumed_at: '2026-11-21T10:30:00.000Z',
    created_at: '2026-11-21T10:00:00.000Z',
    labels: [],
    mismatches: 0,
  }
  const accessToken: AdminAccessToken = {
    id: '9d1c0c5e9b7d2417',
    name: 'ci',
    role: 'operator',
    created_at: '2026-11-21T10:00:00.000Z',
    expires_at: '2027-02-19T10:00:00.000Z',
    last_used_at: null,
    revoked_at: null,
    only: null,
  }
  const findAgent = (name: string): AdminAgent => {
    if (name === AGENT.hostname || name === AGENT.id) return AGENT
    throw new AdminRefusal('agent_not_found', `no agent ${name}`)
  }
  const findDelivery = (id: string): AdminDelivery => {
    if (id === DELIVERY.id) return DELIVERY
    throw new AdminRefusal('delivery_not_found', `no delivery ${id}`)
  }
  const findWebhook = (id: string): typeof WEBHOOK => {
    if (id === WEBHOOK.id) return WEBHOOK
    throw new AdminRefusal('webhook_not_found', `no webhook ${id}`)
  }
  return {
    ...fakeCargoes(findAgent, DELIVERY.id, AGENT),
    listHubs: async () => ({ hubs: [HUB] }),
    removeHub: async () => HUB,
    createWebhook: async ({ url, tipos }) => ({
      ...WEBHOOK,
      url,
      tipos,
      secret: 'whsec_plaintext',
    }),
    listWebhooks: async () => ({ webhooks: [WEBHOOK], next: null }),
    showWebhook: async ({ webhook }) => ({
      ...findWebhook(webhook),
      dead_messages: [
        {
          seq: 5,
          tipo_evento: 'entrega_falhou',
          died_at: WEBHOOK.created_at,
          erro: 'answered 500',
        },
      ],
    }),
    testWebhook: async ({ webhook }) => ({
      id: findWebhook(webhook).id,
      message_id: 'msg_0123',
      ok: false,
      status: 500,
      erro: 'answered 500',
      duration_ms: 12,
    }),
    replayWebhook: async ({ webhook, seq }) => ({
      ...findWebhook(webhook),
      seq: seq === undefined ? WEBHOOK.seq : seq - 1,
    }),
    removeWebhook: async ({ webhook }) => findWebhook(webhook),
    createToken: async (request) => ({
      ...token,
      hostname: request.hostname,
      role: request.role,
      labels: Object.entries(request.labels ?? {})
        .map((label) => label.join('='))
        .sort(),
      consumed_at: null,
      expires_at: new Date(
        Date.UTC(2026, 10, 21) + (request.ttl_seconds ?? 0) * 1000,
      ).toISOString(),
      token: 'svct_plaintext',
      agent_command: 'SVC_ENROLL_TOKEN=svct_plaintext svc-agent enroll',
    }),
    ...FLEET_OPERATIONS,
    ...JOIN_RULE_OPERATIONS,
    ...ROLLOUT_OPERATIONS,
    listTokens: async () => ({ tokens: [token], next: null }),
    revokeToken: async () => token,
    search: async ({ q }) => ({
      hits: AGENT.hostname.includes(q)
        ? [{ kind: 'agente', id: AGENT.id, title: AGENT.hostname, matched: 'hostname' }]
        : [],
    }),
    listCertificates: async () => ({ certificados: [CERTIFICATE], next: null, total: 1 }),
    listAgents: async () => ({ agentes: [AGENT], next: null, total: 1 }),
    showAgent: async ({ agente }) => ({
      ...findAgent(agente),
      ...SHOWN_OF_AGENT,
      entregas: [DELIVERY],
    }),
    labelAgents: async ({ agente, where }) => {
      if (agente !== undefined) return { agentes: 1, changed: findAgent(agente) === AGENT ? 1 : 0 }
      return where?.startsWith('env=nothing')
        ? { agentes: 0, changed: 0 }
        : { agentes: 40, changed: 12 }
    },
    revokeAgent: async ({ agente }) => ({
      ...findAgent(agente),
      revoked_at: '2026-11-21T10:10:00.000Z',
      tokens_ended: 1,
    }),
    // Two pages of one row each.
    listCaRevocations: async ({ after }) => ({
      revocations: [
        after === undefined ? REVOCATION : { ...REVOCATION, serial: '0d', state: 'refused' },
      ],
      next: after === undefined ? REVOCATION.id : null,
    }),
    showBundle: async () => BUNDLE,
    updateBundle: async ({ force, numero, in_waves }) => ({
      ...updateBundle(force === true, numero),
      rollout: in_waves === undefined ? null : '3e8f5d7c9a0b1246',
    }),
    signBundle: async () => ({ ...updateBundle(true), trust_key: 'prod:RWQ' }),
    removeAgent: async ({ agente }) => findAgent(agente),
    cancelDelivery: async ({ entrega }) => ({ ...findDelivery(entrega), status: 'cancelada' }),
    retryDeliveries: async ({ entrega = DELIVERY.id }) => ({
      entregas: [{ ...findDelivery(entrega), id: randomUUID(), status: 'pendente', erro: null }],
    }),
    listDeliveries: async () => ({ entregas: [DELIVERY], next: null }),
    findDeliveries: async ({ status = [DELIVERY.status] }) => ({
      entregas: status.some((wanted) => wanted === DELIVERY.status) ? [DELIVERY] : [],
      next: null,
      total: null,
    }),
    showDelivery: async () => ({ ...DELIVERY, sans: ['site.example.org'], substituida_por: null }),
    pushToAgent: async ({ agente, acao }) => {
      findAgent(agente)
      if (acao === undefined) return { entrega_id: DELIVERY.id, online: true }
      return { online: acao === 'sync' }
    },
    createAccessToken: async ({ name, role }) => ({
      ...accessToken,
      name,
      role,
      token: 'svca_plaintext',
    }),
    listAccessTokens: async () => ({ admin_tokens: [accessToken], next: null }),
    revokeAccessToken: async () => accessToken,
    ...PASSKEY_OPERATIONS,
    showOwnToken: async () => accessToken,
    revokeOwnToken: async () => accessToken,
    ...SESSION_OPERATIONS,
    showFeatures: async () => ({ features: ['labels', 'agent_filters'] }),
    showExamination: async () => EXAMINATION,
    summarizeFleet: async () => FLEET_SUMMARY,
    showStatus: async () => ({
      version: '0.1.0',
      hub: {
        ready: true,
        subsystems: [
          { name: 'store', ready: true, reason: 'the database can be read', since: null },
        ],
        remarks: ['webhook w-1 is 1200 entries behind the log'],
      },
      agentes: { registered: 2, atrasado: 1, revoked: 0 },
      certificados: {
        identity: { valid: 2, atrasado: 1, expired: 0 },
        delivery: { valid: 3, atrasado: 0, expired: 1 },
      },
      entregas: {
        pendente: 1,
        em_andamento: 0,
        instalada: 4,
        entregue: 2,
        falhou: 1,
        revertida: 1,
      },
      survival: {
        seconds: 9_000,
        first: {
          hostname: AGENT.hostname,
          purpose: 'delivery',
          nome: 'site',
          not_after: '2026-11-22T10:00:00.000Z',
          atrasado: true,
        },
        following_1h: 0,
        following_24h: 2,
      },
      mudanca: null,
      ...ROLLOUT_STATUS,
      survival_on_time: {
        seconds: 39_600,
        first: {
          agente_id: AGENT.id,
          hostname: 'db-1.example.org',
          purpose: 'identity',
          nome: null,
          not_after: '2026-11-22T18:30:00.000Z',
        },
        losing: [{ hours: 1, agentes: 0 }],
      },
    }),
    ...POLICIES,
    listEntries: async ({ after = 0, before = Infinity, limit = 500, last, ...filter }) => {
      const { tipo, agente, since } = filter
      if (agente !== undefined) findAgent(agente)
      const matching = entries.filter(
        (entry) =>
          entry.seq > after &&
          entry.seq < before &&
          (tipo === undefined || entry.tipo_evento === tipo) &&
          (since === undefined || Date.parse(entry.timestamp) >= Date.parse(since)),
      )
      const eventos = last === undefined ? matching.slice(0, limit) : matching.slice(-last)
      return { eventos, next: null }
    },
    ...SEGMENTS,
    showCheckpoint: async () => ({ checkpoint: null, key: null, entries: 0 }),
    showRangeProof: async (range) => logOf(entries.map(toRecord)).prove(range),
    showBlockProofs: async ({ blocks }) => logOf(entries.map(toRecord)).showBlockProofs(blocks),
    keepCosigned: async () => ({ entries: 7, witnesses: [] }),
    listRecords: async ({ after = 0 }) => {
      const page = entries.filter(({ seq }) => seq > after).slice(0, RECORD_PAGE_ENTRIES)
      const last = page.at(-1)?.seq ?? after
      return { registros: page.map(toRecord), next: last < entries.length ? last : null }
    },
  }
}
