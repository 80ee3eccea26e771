// The labels of hosts, and the hosts of a label by hostname. An agent's hostname never changes, so it stands here too: the
// hosts of a label are read in the order of a list, however many others there are.

import type { AgentId } from '../../../protocol/identifiers.ts'
import { isReported, type Labels } from '../../../protocol/labels.ts'
import type { Agent } from '../../domain/agent.ts'
import type { HostIndex, HostSource } from '../../domain/host-source.ts'
import type { LabelChange } from '../../domain/label-change.ts'
import type { Page } from '../store.ts'
import { type AgentRow, toAgent } from './agent-rows.ts'
import { toLabels } from './label-columns.ts'
import type { Parameter, SqlSession } from './sql-session.ts'

/** A step of migrations.ts. */
export const AGENT_LABELS = `
CREATE TABLE agentes_labels (
  agente_id TEXT NOT NULL REFERENCES agentes (id),
  chave TEXT NOT NULL,
  valor TEXT NOT NULL,
  hostname TEXT NOT NULL,
  PRIMARY KEY (agente_id, chave)
) STRICT, WITHOUT ROWID;
CREATE INDEX agentes_labels_por_valor ON agentes_labels (chave, valor, hostname);
CREATE INDEX agentes_labels_por_chave ON agentes_labels (chave, hostname);
-- What the host gets when it enrols; null for nothing.
ALTER TABLE enrollment_tokens ADD COLUMN labels TEXT CHECK (labels IS NULL OR json_type(labels) = 'object');
`

/** A step of migrations.ts: it only adds, and of a host that an earlier program removes nothing is kept. */
export const LAST_LABELS = `
CREATE TABLE agentes_labels_ao_sair (
  agente_id TEXT NOT NULL PRIMARY KEY REFERENCES agentes (id),
  labels TEXT NOT NULL CHECK (json_type(labels) = 'object')
) STRICT, WITHOUT ROWID;
`

export function selectLastLabels(
  session: SqlSession,
  agentIds: readonly AgentId[],
): ReadonlyMap<AgentId, Labels> {
  const sql = `SELECT agente_id, labels FROM json_each(?) AS wanted
    CROSS JOIN agentes_labels_ao_sair ON agente_id = wanted.value`
  const rows = session.all<{ agente_id: AgentId; labels: string }>(sql, JSON.stringify(agentIds))
  return new Map(rows.map(({ agente_id: id, labels }) => [id, toLabels(labels)]))
}

export function selectLabels(
  session: SqlSession,
  agentIds: readonly AgentId[],
  keys: readonly string[] | undefined,
): ReadonlyMap<AgentId, Labels> {
  const ofKeys =
    keys === undefined
      ? 'agente_id = wanted.value'
      : 'agente_id = wanted.value AND chave IN (SELECT value FROM json_each(?))'
  const sql = `SELECT agente_id, chave, valor FROM json_each(?) AS wanted
    CROSS JOIN agentes_labels ON ${ofKeys}`
  const rows = session.all<{ agente_id: AgentId; chave: string; valor: string }>(
    sql,
    JSON.stringify(agentIds),
    ...(keys === undefined ? [] : [JSON.stringify(keys)]),
  )
  const labels = new Map<AgentId, Map<string, string>>()
  for (const { agente_id: id, chave, valor } of rows) {
    const known = labels.get(id) ?? new Map<string, string>()
    labels.set(id, known.set(chave, valor))
  }
  return labels
}

export function changeLabels(session: SqlSession, changes: readonly LabelChange[]): void {
  for (const [isDeciding, some] of Map.groupBy(changes, decidesAnything)) {
    const subject = isDeciding ? some.map(({ agentId }) => agentId) : 'no agent'
    session.about(subject, () => writeLabels(session, some))
  }
}

/** What agents report of themselves does not. docs/protocol.md LBL-7. */
function decidesAnything({ set, removed }: LabelChange): boolean {
  return [...set.keys(), ...removed].some((key) => !isReported(key))
}

function writeLabels(session: SqlSession, changes: readonly LabelChange[]): void {
  const set = changes.flatMap(({ agentId, set: labels }) =>
    [...labels].map(([key, value]) => [agentId, key, value]),
  )
  const removed = changes.flatMap(({ agentId, removed: keys }) => keys.map((key) => [agentId, key]))
  session.run(
    `INSERT INTO agentes_labels (agente_id, chave, valor, hostname)
     SELECT wanted.value ->> 0, wanted.value ->> 1, wanted.value ->> 2, agentes.hostname
     FROM json_each(?) AS wanted CROSS JOIN agentes ON agentes.id = wanted.value ->> 0
     WHERE removed_at IS NULL
     ON CONFLICT DO UPDATE SET valor = excluded.valor`,
    JSON.stringify(set),
  )
  session.run(
    `DELETE FROM agentes_labels WHERE (agente_id, chave) IN
       (SELECT value ->> 0, value ->> 1 FROM json_each(?))`,
    JSON.stringify(removed),
  )
}

interface SourceSql {
  /** Has the hosts that are not removed, in the order of hostnames within what the parameters name. */
  readonly index: string
  readonly where: string
  readonly hostname: string
  /** Whether a host of another index is one of these, by the same parameters. */
  readonly isOne: string
}

const PRESENT = 'removed_at IS NULL'
const ALL: SourceSql = {
  index: 'agentes INDEXED BY agentes_por_hostname',
  where: PRESENT,
  hostname: 'hostname',
  isOne: 'true',
}
const ONE: SourceSql = { ...ALL, where: `hostname = ? AND ${PRESENT}`, isOne: 'hostname = ?' }
const OF_ROLE: SourceSql = {
  index: 'agentes INDEXED BY agentes_por_role_e_hostname',
  where: `role = ? AND ${PRESENT}`,
  hostname: 'hostname',
  isOne: 'role = ?',
}
const OF_KEY: SourceSql = {
  index: 'agentes_labels INDEXED BY agentes_labels_por_chave',
  where: 'chave = ?',
  hostname: 'agentes_labels.hostname',
  isOne: 'EXISTS (SELECT 1 FROM agentes_labels WHERE agente_id = agentes.id AND chave = ?)',
}
const OF_VALUE: SourceSql = {
  index: 'agentes_labels INDEXED BY agentes_labels_por_valor',
  where: 'chave = ? AND valor = ?',
  hostname: 'agentes_labels.hostname',
  isOne:
    'EXISTS (SELECT 1 FROM agentes_labels WHERE agente_id = agentes.id AND chave = ? AND valor = ?)',
}

function sqlOf(source: HostSource): readonly [sql: SourceSql, parameters: readonly Parameter[]] {
  if (source.by === 'name') return [ONE, [source.hostname]]
  if (source.by === 'role') return [OF_ROLE, [source.role]]
  if (source.by === 'all') return [ALL, []]
  const { key, value } = source
  return value === undefined ? [OF_KEY, [key]] : [OF_VALUE, [key, value]]
}

/** The hostnames of a source, by the parameters that come before the place that they start after; from the index alone. */
export function namesOf(
  source: HostSource,
): readonly [sql: string, parameters: readonly Parameter[]] {
  const [{ index, where, hostname }, parameters] = sqlOf(source)
  const sql = `SELECT ${hostname} AS hostname FROM ${index}
    WHERE ${where} AND ${hostname} > ? ORDER BY ${hostname}`
  return [sql, parameters]
}

/** By hostname, after that of any agent. */
export function selectHosts(
  session: SqlSession,
  source: HostSource,
  { after, limit }: Page,
): Agent[] {
  const place =
    after === undefined
      ? undefined
      : session.get<{ place: string }>('SELECT hostname AS place FROM agentes WHERE id = ?', after)
  const [{ index, where, hostname }, parameters] = sqlOf(source)
  const agents = source.by === 'label' ? 'CROSS JOIN agentes ON agentes.id = agente_id' : ''
  const sql = `SELECT agentes.* FROM ${index} ${agents}
    WHERE ${where} AND ${hostname} > ? ORDER BY ${hostname} LIMIT ?`
  return session.all<AgentRow>(sql, ...parameters, place?.place ?? '', limit).map(toAgent)
}

/** At most `limit`, from the index alone: to look at the row of each agent takes a hundred times as long. */
export function countHosts(session: SqlSession, hosts: HostIndex, limit: number): number {
  const [{ index, where }, parameters] = sqlOf(hosts)
  const sql = `SELECT count(*) AS count FROM (SELECT 1 FROM ${index} WHERE ${where} LIMIT ?)`
  return session.get<{ count: number }>(sql, ...parameters, limit)?.count ?? 0
}

/** Of a row of `agentes`: whether it is one of the source. */
export function isOneOf(
  source: HostSource,
): readonly [sql: string, parameters: readonly Parameter[]] {
  const [{ isOne }, parameters] = sqlOf(source)
  return [isOne, parameters]
}
