// What a log says of its certificates, entry by entry, oldest first: docs/protocol.md EVD-7 to EVD-9. The verifier in
// tools/verify-evidence.py works it out a second time, from the statements.

import type { RecordedEntry } from '../audit/record.ts'
import type { CertificateClaims, Fact, LostAnswer } from './claims.ts'
import { appliedIn, isNextVersion, isPolicy, objectsIn } from './applied-changes.ts'
import { plainSerial } from './serial-number.ts'

type Payload = Readonly<Record<string, unknown>>

const OWN_FIELDS = ['request', 'politica'] as const
const DELIVERY_FIELDS = ['carga_id', 'versao'] as const

export class CertificateLedger {
  /** Of the period, in the order of the log. */
  readonly certificates: CertificateClaims[] = []
  /** Of all entries. */
  readonly answersLost: LostAnswer[] = []
  /** Serials that the log has, and the first entry that names each. */
  readonly seqsBySerial: Map<string, number> = new Map()
  readonly #after: number
  readonly #until: number
  readonly #tokens = new Map<string, Fact>()
  readonly #enrolments = new Map<string, CertificateClaims['enrolled']>()
  readonly #rules = new Map<string, Fact>()
  readonly #loads = new Map<string, CertificateClaims['load']>()
  readonly #retries = new Map<string, Fact>()
  readonly #rotations = new Map<string, Fact>()
  readonly #newest = new Map<string, CertificateClaims>()
  readonly #bySerial = new Map<string, CertificateClaims>()
  readonly #bySha256 = new Map<string, CertificateClaims>()
  readonly #byDelivery = new Map<string, CertificateClaims[]>()
  readonly #unrevoked = new Map<string, CertificateClaims[]>()

  /** Of the entries after the one, and up to the other. */
  constructor(after: number, until: number) {
    this.#after = after
    this.#until = until
  }

  add(entry: RecordedEntry): void {
    const payload = parsePayload(entry.payloadText)
    if (entry.agentId === null) this.#addAct(entry, payload)
    else if (this.#isInPeriod(entry)) this.#addSent(entry, entry.agentId, payload)
  }

  #isInPeriod({ seq }: RecordedEntry): boolean {
    return seq > this.#after && seq <= this.#until
  }

  #addAct(entry: RecordedEntry, payload: Payload): void {
    const fact = factOf(entry, textOf(payload['actor']))
    const agent = textOf(payload['agente_id']) ?? ''
    switch (entry.eventType) {
      case 'token_created':
        return set(this.#tokens, textOf(payload['token_id']), fact)
      case 'join_rule_created':
        return set(this.#tokens, textOf(payload['join_rule_id']), fact)
      case 'agent_enrolled': {
        const enrolled = { ...fact, token_id: textOf(payload['token_id']) }
        // Nobody made the host's own token: it was derived from the rule that somebody made.
        const rule = this.#tokens.get(textOf(payload['join_rule_id']) ?? '')
        if (rule !== undefined) set(this.#tokens, enrolled.token_id, rule)
        return set(this.#enrolments, agent, enrolled)
      }
      case 'politica_set': {
        set(this.#rules, textOf(payload['nome']), fact)
        const { trial } = payload
        return this.#noteSerial(isObject(trial) ? textOf(trial['serial']) : null, entry.seq)
      }
      case 'carga_created':
      case 'carga_updated': {
        const load = { ...fact, tipo_evento: entry.eventType }
        return set(this.#loads, loadKey(payload), load)
      }
      case 'fleet_applied':
        return this.#addFleet(entry, payload, fact)
      case 'entrega_retried':
        return set(this.#retries, entry.deliveryId, fact)
      case 'certificate_answer_lost':
        return void this.answersLost.push(toLostAnswer(entry, payload))
      case 'certificate_issued':
      case 'server_certificate_issued':
      case 'certificate_discarded':
        this.#noteSerial(textOf(payload['serial']), entry.seq)
        break
      default:
    }
    if (this.#isInPeriod(entry)) this.#addActOfPeriod(entry, payload, fact, agent)
  }

  /** One entry for all that it made and changed. docs/protocol.md DCL-8. */
  #addFleet(entry: RecordedEntry, payload: Payload, fact: Fact): void {
    for (const change of appliedIn(payload)) {
      if (isPolicy(change)) set(this.#rules, textOf(change['nome']), fact)
      if (change['kind'] === 'join_rule' && change['action'] === 'create') {
        set(this.#tokens, textOf(change['join_rule_id']), fact)
      }
      if (isNextVersion(change)) {
        set(this.#loads, loadKey(change), { ...fact, tipo_evento: entry.eventType })
      }
    }
    for (const trial of objectsIn(payload['trials'])) {
      this.#noteSerial(textOf(trial['serial']), entry.seq)
    }
  }

  #addActOfPeriod(entry: RecordedEntry, payload: Payload, fact: Fact, agent: string): void {
    const sha256 = textOf(payload['sha256']) ?? ''
    switch (entry.eventType) {
      case 'certificate_issued':
      case 'server_certificate_issued':
      case 'certificate_discarded':
        return this.#addCertificate(entry, payload, fact)
      case 'identity_recovered': {
        const last = this.certificates.at(-1)
        if (last?.issued.seq === entry.seq - 1 && last.agente_id === agent) last.recovered = fact
        return
      }
      case 'agent_rotate_requested':
        return set(this.#rotations, agent, fact)
      case 'certificate_revoked_at_ca':
        return note(this.#bySha256.get(sha256), 'revoked_at_ca', fact)
      case 'certificate_not_revoked_at_ca':
        return note(this.#bySha256.get(sha256), 'not_revoked_at_ca', fact)
      case 'certificate_superseded_used':
        return note(this.#find(agent, payload['serial']), 'superseded_used', fact)
      case 'entrega_cancelled':
        for (const known of this.#byDelivery.get(entry.deliveryId ?? '') ?? []) {
          note(known, 'cancelled', fact)
        }
        return
      case 'agent_revoked':
        for (const known of this.#unrevoked.get(agent) ?? []) note(known, 'revoked', fact)
        return void this.#unrevoked.delete(agent)
      default:
    }
  }

  #addSent(entry: RecordedEntry, agent: string, payload: Payload): void {
    const fact = factOf(entry, 'agent')
    switch (entry.eventType) {
      case 'cert_renewed':
        return note(this.#find(agent, payload['new_serial']), 'installed', fact)
      case 'entrega_instalada': {
        const newest = this.#byDelivery.get(entry.deliveryId ?? '')?.at(-1)
        const named = 'serial' in payload ? this.#find(agent, payload['serial']) : newest
        return note(named?.agente_id === agent ? named : undefined, 'installed', fact)
      }
      case 'alvo_aplicado': {
        if (payload['probe'] !== 'ok') return
        const served = { ...fact, alvo: textOf(payload['alvo']) }
        return note(this.#find(agent, payload['serial']), 'served', served)
      }
      default:
    }
  }

  #addCertificate(entry: RecordedEntry, payload: Payload, issued: Fact): void {
    const read = (field: string): string | null => textOf(payload[field])
    const [agent, purpose, politica] = [read('agente_id'), read('purpose'), read('politica')]
    const isIdentity = purpose === 'identity'
    const wanted = wantedFields(entry.eventType, purpose)
    const enrolled = (isIdentity && this.#enrolments.get(agent ?? '')) || null
    const claims: CertificateClaims = {
      serial: read('serial'),
      sha256: read('sha256'),
      agente_id: agent,
      hostname: read('hostname'),
      names: namesOf(payload),
      purpose,
      entrega_id: entry.deliveryId,
      not_after: read('not_after'),
      request: read('request'),
      politica,
      issued,
      enrolled,
      token: this.#tokens.get(enrolled?.token_id ?? '') ?? null,
      rule: this.#rules.get(politica ?? '') ?? null,
      load: this.#loads.get(loadKey(payload)) ?? null,
      retried: this.#retries.get(entry.deliveryId ?? '') ?? null,
      rotated: (isIdentity && this.#rotations.get(agent ?? '')) || null,
      recovered: null,
      installed: null,
      served: null,
      replaced: null,
      cancelled: null,
      revoked: null,
      revoked_at_ca: null,
      not_revoked_at_ca: null,
      superseded_used: null,
      not_recorded: wanted.filter((field) => !(field in payload)),
    }
    if (isIdentity) this.#rotations.delete(agent ?? '')
    this.#index(claims, placeOf(entry, claims, read('carga_id')))
  }

  #index(claims: CertificateClaims, place: string | undefined): void {
    this.certificates.push(claims)
    if (place !== undefined) {
      note(this.#newest.get(place), 'replaced', claims.issued)
      this.#newest.set(place, claims)
    }
    const agent = claims.agente_id ?? ''
    this.#bySerial.set(serialKey(agent, claims.serial), claims)
    set(this.#bySha256, claims.sha256, claims)
    if (claims.entrega_id !== null) append(this.#byDelivery, claims.entrega_id, claims)
    if (agent !== '') append(this.#unrevoked, agent, claims)
  }

  #find(agent: string, serial: unknown): CertificateClaims | undefined {
    return this.#bySerial.get(serialKey(agent, textOf(serial)))
  }

  #noteSerial(serial: string | null, seq: number): void {
    const plain = plainSerial(serial ?? '')
    if (plain !== '' && !this.seqsBySerial.has(plain)) this.seqsBySerial.set(plain, seq)
  }
}

function note<Field extends NotedField>(
  claims: CertificateClaims | undefined,
  field: Field,
  fact: NonNullable<CertificateClaims[Field]>,
): void {
  if (claims !== undefined) claims[field] ??= fact
}

/** The first entry that says it counts. */
type NotedField =
  | 'recovered'
  | 'installed'
  | 'served'
  | 'replaced'
  | 'cancelled'
  | 'revoked'
  | 'revoked_at_ca'
  | 'not_revoked_at_ca'
  | 'superseded_used'

function factOf({ seq, timestamp }: RecordedEntry, actor: string | null): Fact {
  return { seq, at: timestamp, actor }
}

/** What a hub since 0.5.0 says of each that it gives to an agent: EVD-13. */
function wantedFields(eventType: string, purpose: string | null): readonly string[] {
  if (eventType !== 'certificate_issued') return []
  return purpose === 'delivery' ? [...OWN_FIELDS, ...DELIVERY_FIELDS] : OWN_FIELDS
}

/** Where the next one takes its place; nowhere for what nobody has. */
function placeOf(
  { eventType, deliveryId }: RecordedEntry,
  { agente_id: agent, hostname, purpose }: CertificateClaims,
  cargo: string | null,
): string | undefined {
  if (eventType === 'certificate_discarded') return undefined
  if (eventType === 'server_certificate_issued') return 'hub'
  const place = purpose === 'identity' ? 'identity' : (cargo ?? deliveryId ?? purpose)
  return `${agent ?? hostname}/${place}`
}

function toLostAnswer({ seq, timestamp }: RecordedEntry, payload: Payload): LostAnswer {
  const read = (field: string): string | null => textOf(payload[field])
  return {
    seq,
    at: timestamp,
    asked_at: read('asked_at'),
    request: read('request'),
    hostname: read('hostname'),
    names: namesOf(payload),
    csr_sha256: read('csr_sha256'),
    key_sha256: read('key_sha256'),
    reason: read('reason'),
  }
}

function namesOf({ names }: Payload): readonly string[] | null {
  return Array.isArray(names) && names.every((name) => typeof name === 'string') ? names : null
}

function loadKey({ carga_id: id, versao: version }: Payload): string {
  return typeof id === 'string' && typeof version === 'number' ? `${id}/${version}` : ''
}

function serialKey(agent: string, serial: string | null): string {
  return `${agent}/${plainSerial(serial ?? '')}`
}

/** What has no name is nobody's. */
function set<Value>(map: Map<string, Value>, name: string | null, value: Value): void {
  if (name !== null && name !== '') map.set(name, value)
}

function append<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const list = lists.get(key)
  if (list === undefined) lists.set(key, [value])
  else list.push(value)
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' ? value : null
}

function parsePayload(text: string): Payload {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

function isObject(value: unknown): value is Payload {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
