// A log as a hub would have it of a fleet whose certificates were enrolled, renewed, delivered, served and revoked, and a hub that
// answers from it.

import { createHash } from 'node:crypto'
import { parseRecord } from '../../src/audit/record.ts'
import { plainSerial } from '../../src/evidence/serial-number.ts'
import { SerialSet } from '../../src/evidence/serial-set.ts'
import type { EvidenceOperations } from '../../src/admin/commands/evidence/plan-evidence.ts'
import type { AdminEntry } from '../../src/protocol/admin/views.ts'
import { AGENT } from '../cli/fake-agent.ts'
import type { Random } from '../simulation/seeded-random.ts'
import { type Content, type MadeLog, makeLog } from './made-export.ts'

export interface MadeCertificates {
  readonly log: MadeLog
  /** Of all certificates, as hex. */
  readonly serials: readonly string[]
  readonly operations: EvidenceOperations
}

/** As a list of the CA has them. */
export function serialSetOf(serials: readonly string[]): SerialSet {
  const set = new SerialSet()
  for (const serial of serials) set.add(plainSerial(serial))
  return set
}

const JOIN_RULE_ID = '0123456789abcdef'
const CERTIFICATES_A_HOST = 10
const HOSTS_BETWEEN_UPKEEP = 20

export function makeCertificates(count: number, random: Random): MadeCertificates {
  const contents: Content[] = []
  const serials: string[] = []
  const add = (content: Omit<Content, 'id' | 'requestId' | 'payloadText'>, payload: object) => {
    const payloadText = JSON.stringify(payload)
    contents.push({ id: uuid(contents.length), requestId: null, ...content, payloadText })
  }
  const act = (eventType: string, payload: object, deliveryId: string | null = null): void =>
    add({ agentId: null, eventType, deliveryId }, payload)
  const sent = (agent: string, type: string, payload: object, of: string | null = null): void =>
    add({ agentId: agent, eventType: type, deliveryId: of }, payload)

  const issue = (host: Host, fields: object, deliveryId: string | null = null): string => {
    const serial = hashOf(`serial ${serials.length}`).slice(0, 32)
    serials.push(serial)
    const { agente_id, hostname } = host
    const known = { actor: 'hub', agente_id, hostname, serial, sha256: hashOf(serial) }
    act(
      'certificate_issued',
      { ...known, not_after: '2027-01-01T00:00:00.000Z', ...fields },
      deliveryId,
    )
    return serial
  }
  act('politica_set', { actor: 'socket:0', role: 'web', nome: 'web' })
  const hosts = Math.ceil(count / CERTIFICATES_A_HOST)
  const loads = Array.from({ length: 5 }, (_, at) => uuid(1_000_000 + at))
  for (const [at, carga_id] of loads.entries()) {
    act('carga_created', { actor: 'token:deploy', carga_id, nome: `site${at}`, versao: 1 })
  }
  act('join_rule_created', { actor: 'token:ops', join_rule: 'image', join_rule_id: JOIN_RULE_ID })
  act('fleet_applied', {
    actor: 'token:git',
    changes: [
      { kind: 'politica', action: 'update', name: 'web', nome: 'web', fields: ['reenroll'] },
      { kind: 'carga', action: 'update', carga_id: loads[0], versao: 1, fields: ['sans'] },
      { kind: 'carga', action: 'update', carga_id: loads[1], versao: 1, fields: ['where'] },
      { kind: 'join_rule', action: 'update', name: 'image', join_rule_id: JOIN_RULE_ID },
    ],
    trials: [{ cert_ttl: 7200, serial: 'f1ee7', revoked: true }],
  })
  const rule = { politica: 'web' }
  /** What the CA signs for the hub itself, and for nobody. */
  const ofHub = (type: string, fields: object): void => {
    const serial = hashOf(`serial ${serials.length}`).slice(0, 32)
    serials.push(serial)
    const signed = { serial, sha256: hashOf(serial), not_after: '2027-01-01T00:00:00.000Z' }
    act(type, { actor: 'hub', ...signed, ...fields })
  }
  const upkeep = (turn: number): void => {
    const server = { names: ['hub.example', 'é'], purpose: 'server', request: 'server' }
    ofHub('server_certificate_issued', server)
    const asked = {
      names: [`h${turn}.example`],
      request: 'renewal',
      csr_sha256: 'c',
      key_sha256: 'k',
    }
    const host = { agente_id: uuid(2_000_000), hostname: 'h0.example' }
    ofHub('certificate_discarded', { ...asked, ...host, purpose: 'none', reason: 'agent_revoked' })
    const lost = { asked_at: '2026-01-01T00:00:00.000Z', reason: 'timeout' }
    act('certificate_answer_lost', { actor: 'hub', ...host, ...asked, ...lost })
  }
  const enrolled = Array.from({ length: hosts }, (_, at) => enrol(at))
  for (let turn = 1; turn < CERTIFICATES_A_HOST; turn += 1) {
    for (const [at, host] of enrolled.entries()) {
      if (serials.length < count) live(host, turn)
      if (serials.length < count && at % HOSTS_BETWEEN_UPKEEP === 0) upkeep(turn)
    }
  }
  function enrol(at: number): Host {
    const host = { agente_id: uuid(2_000_000 + at), hostname: `h${at}.example`, serial: '' }
    const token_id = hashOf(host.hostname).slice(0, 16)
    const isJoined = at % 3 === 2
    if (!isJoined) {
      act('token_created', { actor: 'socket:0', token_id, hostname: host.hostname, role: 'web' })
    }
    const joined = isJoined ? { join_rule: 'image', join_rule_id: JOIN_RULE_ID } : {}
    const byToken = { actor: 'token', token_id, agente_id: host.agente_id }
    act('agent_enrolled', { ...byToken, ...joined, ...rule })
    host.serial = issue(host, { purpose: 'identity', request: 'enrollment', ...rule })
    return host
  }
  function live(host: Host, turn: number): void {
    sent(host.agente_id, 'manifest_pulled', { count: turn })
    const { agente_id, hostname } = host
    if (random() < 0.3) {
      const delivery = uuid(3_000_000 + serials.length)
      const carga = { carga_id: loads[turn % loads.length], versao: 1 }
      const fields = { purpose: 'delivery', request: 'delivery', ...rule, ...carga }
      const serial = issue(host, fields, delivery)
      sent(agente_id, 'entrega_instalada', { carga_nome: 'ç "x"' }, delivery)
      // Half of a pair of surrogates, as an agent may send it.
      sent(agente_id, 'alvo_aplicado', { alvo: 'nginx\ud800', serial, probe: 'ok' }, delivery)
      return
    }
    if (random() < 0.1) act('agent_rotate_requested', { actor: 'token:ops', agente_id, hostname })
    const isOld = random() < 0.1
    const recorded = isOld ? {} : { request: 'renewal', ...rule }
    const serial = issue(host, { purpose: 'identity', ...recorded })
    const trigger = 'auto_threshold'
    sent(agente_id, 'cert_renewed', { old_serial: host.serial, new_serial: serial, trigger })
    host.serial = serial
    if (random() > 0.02) return
    act('agent_revoked', { actor: 'socket:0', agente_id, hostname })
    act('certificate_revoked_at_ca', { actor: 'hub', agente_id, serial, sha256: hashOf(serial) })
  }
  const log = makeLog(contents)
  return { log, serials, operations: operationsOf(log) }
}

interface Host {
  readonly agente_id: string
  readonly hostname: string
  serial: string
}

/** What a hub answers; about an agent it knows what names the agent, or was sent by it. */
function operationsOf(log: MadeLog): EvidenceOperations {
  const entries = log.records.map(toAdminEntry)
  return {
    showCheckpoint: async () => ({
      checkpoint: log.noteAt(entries.length),
      key: log.key,
      entries: entries.length,
    }),
    showAgent: async ({ agente }) => ({
      ...AGENT,
      id: agente,
      hostname: 'h.example',
      recipient_fingerprint: null,
      politicas: [],
      entregas: [],
      certificados: [],
      roots: null,
      refusals: null,
    }),
    listEntries: async ({ after = 0, before = Infinity, limit = 500, last, ...filter }) => {
      const { tipos, about, since } = filter
      const matching = entries.filter(
        ({ seq, tipo_evento, timestamp, payload, agente_id }) =>
          seq > after &&
          seq < before &&
          (tipos?.includes(tipo_evento) ?? true) &&
          (about === undefined || agente_id === about || payload['agente_id'] === about) &&
          (since === undefined || Date.parse(timestamp) >= Date.parse(since)),
      )
      const eventos = last === undefined ? matching.slice(0, limit) : matching.slice(-last)
      return { eventos, next: null }
    },
    listRecords: async ({ after = 0, limit = 1000 }) => ({
      registros: log.records.slice(after, after + limit),
      next: null,
    }),
    showBlockProofs: async ({ blocks }) => log.showBlockProofs(blocks),
  }
}

function toAdminEntry(record: string): AdminEntry {
  const entry = parseRecord(record)
  if (entry === undefined) throw new Error('a record that was made is one')
  return {
    seq: entry.seq,
    id: entry.id,
    agente_id: entry.agentId,
    tipo_evento: entry.eventType,
    payload: JSON.parse(entry.payloadText) as AdminEntry['payload'],
    payload_text: entry.payloadText,
    entrega_id: entry.deliveryId,
    request_id: entry.requestId,
    timestamp: entry.timestamp,
    hash_anterior: entry.previousHash,
    hash_atual: entry.hash,
  }
}

function hashOf(text: string): string {
  return createHash('sha256').update(text).digest('hex')
}

function uuid(number: number): string {
  return `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`
}
