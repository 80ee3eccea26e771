// The entries outside the period that bear on its certificates: how an agent was enrolled, who made its token, the policy that held,
// the load that was delivered, and what the log knows of other serials of the CA. They are found by indexes. docs/protocol.md EVD-5.

import { formatRecord } from '../../../audit/record.ts'
import { plainSerial } from '../../../evidence/serial-number.ts'
import { ENTRY_PAGE_MAX } from '../../../protocol/admin/bounds.ts'
import type { AdminOperations } from '../../../protocol/admin/operations.ts'
import type { AdminEntry } from '../../../protocol/admin/views.ts'
import type { Progress } from '../../terminal/progress.ts'
import { type EntryQuery, readEntryPages } from '../evento/read-entries.ts'
import { toRecorded } from '../evento/verify-log.ts'
import type { Period } from './plan-evidence.ts'

interface Bearing {
  readonly period: Period
  readonly agent: string | undefined
  readonly serials: ReadonlySet<string> | undefined
}

const SHARED_TYPES = ['politica_set', 'carga_created', 'carga_updated']
const HOST_TYPES = ['token_created', 'agent_enrolled', 'certificate_issued']
const EARLIER_TYPES = [...SHARED_TYPES, 'token_created', 'agent_enrolled']
const SERIAL_TYPES = ['certificate_issued', 'politica_set']

export async function findBearing(
  operations: Pick<AdminOperations, 'listEntries'>,
  { period, agent, serials }: Bearing,
  progress: Progress,
): Promise<ReadonlyMap<number, string>> {
  const { after, until, size } = period
  const records = new Map<number, string>()
  const keep = (entry: AdminEntry): void =>
    void records.set(entry.seq, formatRecord(toRecorded(entry)))
  const wanted = new Wanted(serials)
  const look = (count: number): void => progress.show(`looking for certificates: ${count} entries`)
  let count = 0
  for await (const entry of entriesOfPeriod(operations, period, agent, keep)) {
    wanted.meet(entry)
    count += 1
    if (count % ENTRY_PAGE_MAX === 0) look(count)
  }
  const backwards = async (tipos: readonly string[], isDone: () => boolean): Promise<void> => {
    for (let before = after + 1; before > 1 && !isDone();) {
      const page = { tipos: [...tipos], before, last: ENTRY_PAGE_MAX }
      const { eventos } = await operations.listEntries(page)
      for (const entry of eventos.toReversed()) if (wanted.take(entry)) keep(entry)
      count += eventos.length
      look(count)
      before = eventos[0]?.seq ?? 1
    }
  }
  await backwards(EARLIER_TYPES, () => wanted.isEmpty)
  await backwards(SERIAL_TYPES, () => wanted.serials.size === 0)
  if (wanted.serials.size > 0) {
    const later = { tipos: SERIAL_TYPES, before: size + 1 }
    for await (const page of readEntryPages(operations, later, { after: until })) {
      for (const entry of page) if (wanted.takeSerial(entry)) keep(entry)
      if (wanted.serials.size === 0) break
    }
  }
  return records
}

/** The entries that say what is wanted from outside; of one agent, all that are to be in the file are kept at once. */
async function* entriesOfPeriod(
  operations: Pick<AdminOperations, 'listEntries'>,
  { after, until }: Period,
  agent: string | undefined,
  keep: (entry: AdminEntry) => void,
): AsyncGenerator<AdminEntry> {
  const before = until + 1
  const queries: EntryQuery[] =
    agent === undefined
      ? [{ tipos: [...SHARED_TYPES, ...HOST_TYPES], before }]
      : [
          { tipos: SHARED_TYPES, before },
          { about: agent, before },
        ]
  for (const query of queries) {
    for await (const page of readEntryPages(operations, query, { after })) {
      for (const entry of page) {
        if (agent !== undefined) keep(entry)
        yield entry
      }
    }
  }
}

/** What the certificates of the period name, and nothing has said yet. */
class Wanted {
  readonly serials: Set<string>
  readonly #names = new Set<string>()
  readonly #met = new Set<string>()

  constructor(serials: ReadonlySet<string> | undefined) {
    this.serials = new Set(serials)
  }

  get isEmpty(): boolean {
    return this.#names.size === 0
  }

  /** An entry of the period, oldest first. */
  meet(entry: AdminEntry): void {
    if (entry.agente_id !== null) return
    const name = nameOf(entry)
    if (name !== undefined) this.#met.add(name)
    this.takeSerial(entry)
    for (const other of namesIn(entry)) if (!this.#met.has(other)) this.#names.add(other)
  }

  /** An entry before the period, newest first. */
  take(entry: AdminEntry): boolean {
    if (entry.agente_id !== null) return false
    const name = nameOf(entry)
    const isWanted = name !== undefined && this.#names.delete(name)
    if (isWanted) for (const other of namesIn(entry)) this.#names.add(other)
    return this.takeSerial(entry) || isWanted
  }

  takeSerial({ agente_id, tipo_evento, payload }: AdminEntry): boolean {
    if (agente_id !== null || !SERIAL_TYPES.includes(tipo_evento)) return false
    const named = (tipo_evento === 'politica_set' ? payload['trial'] : payload) ?? {}
    const serial: unknown = (named as { serial?: unknown }).serial
    return typeof serial === 'string' && this.serials.delete(plainSerial(serial))
  }
}

/** What an entry is the answer to. */
function nameOf({ tipo_evento, payload }: AdminEntry): string | undefined {
  switch (tipo_evento) {
    case 'token_created':
      return nameBy('token', payload['token_id'])
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
  if (tipo_evento === 'agent_enrolled') return [nameBy('token', payload['token_id'])]
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
