// The bytes of a change record: JSON, deflated. `{"v":1,"agents":[…]|"*","news":[{…}],"sql":[…],"runs":[[sql, rows, …parameters]]}`, where `sql` is the
// place of the text in its list, `rows` how many rows change, and a parameter is a string, a number, null, or `{"b":base64}` for bytes.
// A statement with names has `{"n":{name: parameter}}` as its only parameter. What brings the tables forward is `"tables":{…}`.

import { deflateRawSync, inflateRawSync } from 'node:zlib'
import { invariant } from '../../../platform/errors.ts'
import type { AgentId } from '../../../protocol/identifiers.ts'
import { StoreError } from '../store-error.ts'
import type { News } from '../store.ts'
import type { ChangeRecord, RecordedStatement, RecordedTables } from './change-record.ts'
import type { NamedParameters, Parameter, Parameters } from './sql-session.ts'

type Written = string | number | null | { readonly b: string }
type WrittenNames = { readonly n: Readonly<Record<string, Written>> }
type WrittenRun = readonly [sql: number, rows: number, ...parameters: (Written | WrittenNames)[]]

interface WrittenRecord {
  readonly v: number
  readonly agents: readonly AgentId[] | '*'
  readonly news?: readonly News[]
  readonly tables?: RecordedTables
  readonly sql: readonly string[]
  readonly runs: readonly WrittenRun[]
}

const FORM = 1

/** The texts repeat themselves from record to record; to look for more than that costs as much as the statements themselves. */
const DEFLATE_LEVEL = 1

export function formatChangeRecord({ statements, agents, news, tables }: ChangeRecord): Buffer {
  const places = new Map<string, number>()
  const runs = statements.map(({ sql, rowsChanged, parameters }): WrittenRun => {
    const place = places.get(sql) ?? places.size
    places.set(sql, place)
    return [place, rowsChanged, ...writeParameters(parameters)]
  })
  const written: WrittenRecord = {
    v: FORM,
    agents: agents === 'all agents' ? '*' : agents,
    ...(news.length > 0 && { news }),
    ...(tables && { tables }),
    sql: [...places.keys()],
    runs,
  }
  return deflateRawSync(JSON.stringify(written), { level: DEFLATE_LEVEL })
}

/** Of bytes that a hub of this vault wrote: what they are sealed with vouches for their shape. Throws StoreError `store_newer`. */
export function parseChangeRecord(bytes: Buffer): ChangeRecord {
  const written = JSON.parse(inflateRawSync(bytes).toString()) as WrittenRecord
  const { v, agents, news = [], tables, sql, runs } = written
  if (v !== FORM) {
    const message = `a record of the journal has form ${String(v)}, this program knows form ${FORM}`
    throw new StoreError('store_newer', message, { hint: 'upgrade this hub: another one is newer' })
  }
  const statements = runs.map(([place, rowsChanged, ...parameters]): RecordedStatement => {
    const text = sql[place]
    invariant(text !== undefined, 'a change record has the text of each statement')
    return { sql: text, rowsChanged, parameters: readParameters(parameters) }
  })
  const about = agents === '*' ? 'all agents' : agents
  return { statements, agents: about, news, ...(tables && { tables }) }
}

function writeParameters(parameters: Parameters): (Written | WrittenNames)[] {
  return parameters.map((parameter) =>
    isValue(parameter) ? write(parameter) : { n: mapValues(parameter, write) },
  )
}

function readParameters(parameters: readonly (Written | WrittenNames)[]): Parameters {
  const [first] = parameters
  if (typeof first === 'object' && first !== null && 'n' in first) return [mapValues(first.n, read)]
  return (parameters as readonly Written[]).map(read)
}

function isValue(parameter: Parameter | NamedParameters): parameter is Parameter {
  return typeof parameter !== 'object' || parameter === null || parameter instanceof Uint8Array
}

function write(parameter: Parameter): Written {
  return parameter instanceof Uint8Array
    ? { b: Buffer.from(parameter).toString('base64') }
    : parameter
}

function read(written: Written): Parameter {
  return typeof written === 'object' && written !== null
    ? Buffer.from(written.b, 'base64')
    : written
}

function mapValues<From, To>(
  values: Readonly<Record<string, From>>,
  map: (value: From) => To,
): Record<string, To> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, map(value)]))
}
