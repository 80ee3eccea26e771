// The entries outside the period that bear on its certificates: how an agent was enrolled, who made its token, the policy that held,
// the load that was delivered, and what the log knows of other serials of the CA. They are found by indexes. docs/protocol.md EVD-5.

import { formatRecord } from '../../../audit/record.ts'
import { appliedIn, isNextVersion, isPolicy, objectsIn } from '../../../evidence/applied-changes.ts'
import type { EvidenceHead } from '../../../evidence/evidence-lines.ts'
import type { SerialSet } from '../../../evidence/serial-set.ts'
import { plainSerial } from '../../../evidence/serial-number.ts'
import { UserError } from '../../../platform/errors.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminEntry } from '../../../protocol/admin/views.ts'
import type { Progress } from '../../terminal/progress.ts'
import { toRecorded } from '../evento/verify-log.ts'
import type { Period } from './plan-evidence.ts'
import { EntryScan, ofTypes, type Scanned, type UnreadEntries } from './scan-entries.ts'

type Agent = NonNullable<EvidenceHead['agente']>

interface Bearing {
  readonly period: Period
  readonly agent: Agent | undefined
  readonly serials: SerialSet | undefined
}

const SHARED_TYPES = ['politica_set', 'carga_created', 'carga_updated', 'fleet_applied']
const EARLIER_TYPES = [...SHARED_TYPES, 'token_created', 'join_rule_created', 'agent_enrolled']
const ISSUING_TYPES = ['certificate_issued', 'server_certificate_issued', 'certificate_discarded']
const LOST = 'certificate_answer_lost'
const BEARING_TYPES = [...EARLIER_TYPES, ...ISSUING_TYPES]
const SERIAL_TYPES = [...ISSUING_TYPES, 'politica_set', 'fleet_applied']
/** Of entries that are held in memory, a kilobyte and a half each. */
const RECORDS_MAX = 1_000_000
/** Of the lost answers outside the period, each of which may be a rogue certificate. */
const LOST_MAX = 10_000

export interface FoundBearing {
  readonly records: ReadonlyMap<number, string>
  /** What could not be searched. */
  readonly unread: readonly UnreadEntries[]
}

export async function findBearing(
  operations: Pick<AdminOperations, 'listEntries'>,
  { period, agent, serials }: Bearing,
  progress: Progress,
  recordsMax: number = RECORDS_MAX,
): Promise<FoundBearing> {
  const { after, until, size } = period
  const scan = await EntryScan.open(operations)
  const records = new Map<number, string>()
  const keep = (entry: AdminEntry): void => {
    if (records.size >= recordsMax) throw tooMany(recordsMax)
    records.set(entry.seq, formatRecord(toRecorded(entry)))
  }
  const wanted = new Wanted(serials)
  let count = 0
  const look = (page: readonly AdminEntry[]): void => {
    count += page.length
    progress.show(`looking for certificates: ${count} entries`)
  }
  const ofAgent: AdminEntry[] = []
  for (const scanned of agent === undefined ? [ofTypes(BEARING_TYPES)] : scansOf(agent)) {
    for await (const page of scan.forwards(scanned, after, until + 1)) {
      if (agent !== undefined) ofAgent.push(...page)
      else for (const entry of page) wanted.meet(entry)
      look(page)
    }
  }
  for (const entry of ofAgent.toSorted((one, other) => one.seq - other.seq)) {
    keep(entry)
    wanted.meet(entry)
  }
  const backwards = async (
    tipos: readonly string[],
    isDone: () => boolean,
    visit: (entry: AdminEntry) => void,
  ): Promise<void> => {
    if (isDone()) return
    for await (const page of scan.backwards(ofTypes(tipos), after + 1)) {
      page.toReversed().forEach(visit)
      look(page)
      if (isDone()) return
    }
  }
  const takeEarlier = (entry: AdminEntry): void => {
    if (wanted.take(entry)) keep(entry)
  }
  await backwards(EARLIER_TYPES, () => wanted.isEmpty, takeEarlier)
  const lost: AdminEntry[] = []
  const take = (entry: AdminEntry): void => {
    if (wanted.takeSerial(entry)) keep(entry)
    if (isLost(entry) && lost.length < LOST_MAX) lost.push(entry)
  }
  const serialTypes = [...SERIAL_TYPES, ...(agent === undefined ? [LOST] : [])]
  await backwards(serialTypes, () => wanted.areSerialsFound, take)
  if (!wanted.areSerialsFound) {
    for await (const page of scan.forwards(ofTypes(serialTypes), until, size + 1)) {
      page.forEach(take)
      if (wanted.areSerialsFound) break
    }
  }
  if (!wanted.areSerialsFound) lost.forEach(keep)
  return { records, unread: [...scan.unread.values()] }
}

function tooMany(max: number): UserError {
  const what = `more than ${max} entries outside the period, or about the agent, would be in the file`
  return new UserError('evidence_too_large', what, {
    hint: 'give a list with the serials of the period alone, or choose a shorter period',
  })
}

/** Of one agent, all that is to be in the file. */
function scansOf({ id, hostname }: Agent): Scanned[] {
  const deliveries = new Set<string>()
  const matches = ({ agente_id, payload, entrega_id: of }: AdminEntry): boolean => {
    const named = agente_id ?? payload['agente_id']
    const isAbout =
      named === undefined
        ? payload['hostname'] === hostname || deliveries.has(of ?? '')
        : named === id
    if (isAbout && of !== null) deliveries.add(of)
    return isAbout
  }
  return [ofTypes(SHARED_TYPES), { query: { about: id }, matches }]
}

/** What the certificates of the period name, and nothing has said yet. */
class Wanted {
  readonly #serials: SerialSet | undefined
  readonly #names = new Set<string>()
  readonly #met = new Set<string>()

  constructor(serials: SerialSet | undefined) {
    this.#serials = serials
  }

  get areSerialsFound(): boolean {
    return (this.#serials?.missing ?? 0) === 0
  }

  get isEmpty(): boolean {
    return this.#names.size === 0
  }

  /** An entry of the period, oldest first. */
  meet(entry: AdminEntry): void {
    if (entry.agente_id !== null) return
    for (const name of namesOf(entry)) this.#met.add(name)
    this.takeSerial(entry)
    for (const other of namesIn(entry)) if (!this.#met.has(other)) this.#names.add(other)
  }

  /** An entry before the period, newest first. */
  take(entry: AdminEntry): boolean {
    if (entry.agente_id !== null) return false
    const isWanted = namesOf(entry).filter((name) => this.#names.delete(name)).length > 0
    if (isWanted) for (const other of namesIn(entry)) this.#names.add(other)
    return this.takeSerial(entry) || isWanted
  }

  takeSerial({ agente_id, tipo_evento, payload }: AdminEntry): boolean {
    if (agente_id !== null || !SERIAL_TYPES.includes(tipo_evento)) return false
    const named = {
      politica_set: objectsIn([payload['trial']]),
      fleet_applied: objectsIn(payload['trials']),
    }
    const all = named[tipo_evento as keyof typeof named] ?? [payload]
    const found = all.filter(
      ({ serial }) =>
        typeof serial === 'string' && this.#serials?.find(plainSerial(serial)) === true,
    )
    return found.length > 0
  }
}

function isLost({ agente_id, tipo_evento }: AdminEntry): boolean {
  return agente_id === null && tipo_evento === LOST
}

/** What an entry is the answer to. */
function namesOf(entry: AdminEntry): readonly string[] {
  if (entry.tipo_evento === 'fleet_applied') return appliedIn(entry.payload).flatMap(nameOfChange)
  const name = nameOf(entry)
  return name === undefined ? [] : [name]
}

function nameOfChange(change: Readonly<Record<string, unknown>>): readonly string[] {
  const { kind, action } = change
  if (isPolicy(change)) return [nameBy('rule', change['nome'])]
  if (kind === 'join_rule' && action === 'create') return [nameBy('token', change['join_rule_id'])]
  return isNextVersion(change) ? [nameBy('load', change['carga_id'], change['versao'])] : []
}

function nameOf({ tipo_evento, payload }: AdminEntry): string | undefined {
  switch (tipo_evento) {
    case 'token_created':
      return nameBy('token', payload['token_id'])
    case 'join_rule_created':
      return nameBy('token', payload['join_rule_id'])
    case 'agent_enrolled':
      return nameBy('agent', payload['agente_id'])
    case 'politica_set':
      return nameBy('rule', payload['nome'])
    case 'carga_created':
    case 'carga_updated':
      return nameBy('load', payload['carga_id'], payload['versao'])
    default:
      return undefined
  }
}

/** What it asks for. */
function namesIn({ tipo_evento, payload }: AdminEntry): readonly string[] {
  if (tipo_evento === 'agent_enrolled') {
    return [nameBy('token', payload['join_rule_id'] ?? payload['token_id'])]
  }
  if (tipo_evento !== 'certificate_issued') return []
  return [
    ...(payload['purpose'] === 'identity' ? [nameBy('agent', payload['agente_id'])] : []),
    ...(typeof payload['politica'] === 'string' ? [nameBy('rule', payload['politica'])] : []),
    ...('carga_id' in payload ? [nameBy('load', payload['carga_id'], payload['versao'])] : []),
  ]
}

function nameBy(...words: readonly unknown[]): string {
  return JSON.stringify(words)
}
