// Join rules, and the hosts that joined by them: each is a token that was derived for the host, and is inserted as one that is consumed.

import type { AgentId, Hostname, JoinRuleId, TokenHash } from '../../../protocol/identifiers.ts'
import type { HostProof } from '../../domain/host-proof.ts'
import type { JoinProof, JoinRule } from '../../domain/join-rule.ts'
import type { WorkloadProof } from '../../domain/workload-proof.ts'
import type { JoinedHost, Page, ProofUser, UsedProof } from '../store.ts'
import { type Instant, fromDate, toDate } from './instants.ts'
import { fromLabels, toLabels } from './label-columns.ts'
import type { SqlSession } from './sql-session.ts'

/** A step of migrations.ts: it only adds, and the program before it inserts tokens and requests of no rule. */
export const JOIN_RULES = `
CREATE TABLE join_rules (
  ordem INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 16),
  name TEXT NOT NULL,
  method TEXT NOT NULL,
  token_hash TEXT UNIQUE CHECK (length(token_hash) = 64),
  role TEXT NOT NULL,
  pattern TEXT NOT NULL,
  labels TEXT CHECK (labels IS NULL OR json_type(labels) = 'object'),
  hosts_max INTEGER NOT NULL CHECK (hosts_max >= 1),
  hosts INTEGER NOT NULL DEFAULT 0,
  silent_ms INTEGER,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  ended_at INTEGER,
  watched_since INTEGER,
  heard_at INTEGER,
  CHECK ((method = 'token') = (token_hash IS NOT NULL)),
  CHECK ((watched_since IS NULL) = (heard_at IS NULL))
) STRICT;
CREATE INDEX join_rules_por_nome ON join_rules (name);
CREATE INDEX join_rules_por_fim ON join_rules (expires_at) WHERE ended_at IS NULL;
CREATE INDEX join_rules_vigiadas ON join_rules (silent_ms) WHERE silent_ms IS NOT NULL;
ALTER TABLE enrollment_tokens ADD COLUMN join_rule TEXT REFERENCES join_rules (id);
CREATE INDEX tokens_por_join_rule ON enrollment_tokens (join_rule) WHERE join_rule IS NOT NULL;
ALTER TABLE assinaturas_abertas ADD COLUMN join_rule TEXT;
CREATE INDEX assinaturas_por_join_rule ON assinaturas_abertas (join_rule) WHERE join_rule IS NOT NULL;
`

/** A step of migrations.ts: it only adds. */
export const WORKLOAD_TOKENS = `
-- Of a method other than token: what a host has to show, and who signs it.
ALTER TABLE join_rules ADD COLUMN prova TEXT CHECK (prova IS NULL OR json_type(prova) = 'object');
ALTER TABLE join_rules ADD COLUMN emissor TEXT;
CREATE INDEX join_rules_por_emissor ON join_rules (emissor, ordem)
  WHERE emissor IS NOT NULL AND ended_at IS NULL;
-- For which host a workload's token was used, and by which derived token last.
CREATE TABLE join_provas (
  id TEXT NOT NULL PRIMARY KEY CHECK (length(id) = 64),
  hostname TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX join_provas_por_fim ON join_provas (expires_at);
`

/** A step of migrations.ts: it only adds. */
export const JOIN_RULE_KEYS = `
-- Which rules in force trust a CA or a key.
CREATE TABLE join_chaves (
  chave TEXT NOT NULL,
  join_rule TEXT NOT NULL REFERENCES join_rules (id),
  PRIMARY KEY (chave, join_rule)
) STRICT, WITHOUT ROWID;
CREATE INDEX join_chaves_por_rule ON join_chaves (join_rule);
CREATE TRIGGER join_chaves_ate_o_fim AFTER UPDATE OF ended_at ON join_rules
  WHEN NEW.ended_at IS NOT NULL
BEGIN
  DELETE FROM join_chaves WHERE join_rule = NEW.id;
END;
`

export interface JoinRuleRow {
  readonly id: JoinRuleId
  readonly name: string
  readonly method: JoinRule['proof']['method']
  readonly token_hash: TokenHash | null
  readonly prova: string | null
  readonly emissor: string | null
  readonly role: string
  readonly pattern: string
  readonly labels: string | null
  readonly hosts_max: number
  readonly hosts: number
  readonly silent_ms: number | null
  readonly created_at: Instant
  readonly expires_at: Instant
  readonly ended_at: Instant | null
  readonly watched_since: Instant | null
  readonly heard_at: Instant | null
}

export function selectJoinRule(
  session: SqlSession,
  by: 'id' | 'token_hash',
  value: string,
): JoinRule | undefined {
  const row = session.get<JoinRuleRow>(`SELECT * FROM join_rules WHERE ${by} = ?`, value)
  return row && toJoinRule(row)
}

/** The newest of them. */
export function selectJoinRuleNamed(session: SqlSession, name: string): JoinRule | undefined {
  const sql = 'SELECT * FROM join_rules WHERE name = ? ORDER BY ordem DESC LIMIT 1'
  const row = session.get<JoinRuleRow>(sql, name)
  return row && toJoinRule(row)
}

export function selectWatchedJoinRules(session: SqlSession): JoinRule[] {
  const sql = `SELECT * FROM join_rules INDEXED BY join_rules_vigiadas
    WHERE silent_ms IS NOT NULL AND hosts > 0`
  return session.all<JoinRuleRow>(sql).map(toJoinRule)
}

export function selectJoinRulesInForce(session: SqlSession, now: Date, limit: number): JoinRule[] {
  const sql = `SELECT * FROM join_rules INDEXED BY join_rules_por_fim
    WHERE ended_at IS NULL AND expires_at > ? ORDER BY expires_at LIMIT ?`
  return session.all<JoinRuleRow>(sql, now.getTime(), limit).map(toJoinRule)
}

export const JOIN_RULE_PAGES = {
  placeOf: 'SELECT ordem AS place FROM join_rules WHERE id = ?',
  parametersOf: (after: string) => [after],
  beginning: Number.MAX_SAFE_INTEGER,
  rows: 'SELECT * FROM join_rules WHERE ordem < ? ORDER BY ordem DESC LIMIT ?',
  translate: toJoinRule,
}

export function countJoinClaims(session: SqlSession, id: JoinRuleId): number {
  const sql = `SELECT count(*) AS total FROM assinaturas_abertas
    INDEXED BY assinaturas_por_join_rule WHERE join_rule = ?`
  return session.get<{ total: number }>(sql, id)?.total ?? 0
}

interface JoinedHostRow {
  readonly token_hash: TokenHash
  readonly hostname: Hostname
  readonly consumed_at: Instant
  readonly agente_id: AgentId | null
  readonly last_seen_at: Instant | null
  readonly last_poll_at: Instant | null
  readonly revoked_at: Instant | null
}

/** Oldest first; undefined when the token that the page is to start after is none of this rule. */
export function selectJoinedHosts(
  session: SqlSession,
  id: JoinRuleId,
  { after, limit }: Page,
): JoinedHost[] | undefined {
  const placeOf = `SELECT ordem FROM enrollment_tokens
    WHERE token_hash >= ? AND token_hash < ? AND join_rule = ? LIMIT 1`
  // The id of a use is the beginning of its hash; `g` comes after all that hex has.
  if (after !== undefined && !/^[0-9a-f]{16}$/.test(after)) return undefined
  const place =
    after === undefined ? 0 : session.get<{ ordem: number }>(placeOf, after, `${after}g`, id)?.ordem
  if (place === undefined) return undefined
  const sql = `SELECT t.token_hash, t.expected_hostname AS hostname, t.consumed_at,
      a.id AS agente_id, a.last_seen_at, p.last_poll_at, a.revoked_at
    FROM enrollment_tokens t INDEXED BY tokens_por_join_rule
      LEFT JOIN agentes a ON a.hostname = t.expected_hostname AND a.removed_at IS NULL
        AND a.token_hash = t.token_hash
      LEFT JOIN agentes_polls p ON p.agente_id = a.id
    WHERE t.join_rule = ? AND t.ordem > ? ORDER BY t.ordem LIMIT ?`
  return session.all<JoinedHostRow>(sql, id, place, limit).map((row) => ({
    tokenHash: row.token_hash,
    hostname: row.hostname,
    joinedAt: new Date(row.consumed_at),
    agentId: row.agente_id,
    lastSeenAt: toDate(row.last_seen_at),
    lastPollAt: toDate(row.last_poll_at),
    revokedAt: toDate(row.revoked_at),
  }))
}

export function insertJoinRule(session: SqlSession, rule: JoinRule): void {
  session.insert('join_rules', fromJoinRule(rule))
  const keys = 'lookUpKeys' in rule.proof ? new Set(rule.proof.lookUpKeys) : []
  for (const chave of keys) session.insert('join_chaves', { chave, join_rule: rule.id })
}

/** Of those in force. */
export function selectJoinRulesByKey(
  session: SqlSession,
  key: string,
  limit: number,
): JoinRuleId[] {
  const sql = 'SELECT join_rule FROM join_chaves WHERE chave = ? ORDER BY join_rule LIMIT ?'
  return session.all<{ join_rule: JoinRuleId }>(sql, key, limit).map((row) => row.join_rule)
}

export function updateJoinRule(session: SqlSession, rule: JoinRule): void {
  session.update('join_rules', 'id', fromJoinRule(rule))
}

/** With the token of one more of its hosts. */
export function countJoin(session: SqlSession, id: JoinRuleId): void {
  session.changeOne('UPDATE join_rules SET hosts = hosts + 1 WHERE id = ?', id)
}

export function endExpiredJoinRules(session: SqlSession, now: Date): void {
  const sql = `UPDATE join_rules INDEXED BY join_rules_por_fim SET ended_at = ?
     WHERE ended_at IS NULL AND expires_at <= ?`
  session.run(sql, now.getTime(), now.getTime())
}

/** When the first one ends that ends later than now. */
export function selectFirstJoinRuleEnd(session: SqlSession, now: Date): Date | undefined {
  const sql = `SELECT expires_at FROM join_rules INDEXED BY join_rules_por_fim
     WHERE ended_at IS NULL AND expires_at > ? ORDER BY expires_at LIMIT 1`
  const first = session.get<{ expires_at: number }>(sql, now.getTime())?.expires_at
  return first === undefined ? undefined : new Date(first)
}

function toProof({ token_hash: tokenHash, prova }: JoinRuleRow): JoinProof {
  if (tokenHash !== null) return { method: 'token', tokenHash }
  return JSON.parse(prova ?? 'null') as WorkloadProof | HostProof
}

function fromProof(
  proof: JoinProof,
): Pick<JoinRuleRow, 'method' | 'token_hash' | 'prova' | 'emissor'> {
  const { method } = proof
  if (method === 'token') return { method, token_hash: proof.tokenHash, prova: null, emissor: null }
  const emissor = method === 'jwt' ? proof.issuer : null
  return { method, token_hash: null, prova: JSON.stringify(proof), emissor }
}

/** Newest first, of those that nobody ended. */
export function selectJoinRulesOfIssuer(
  session: SqlSession,
  issuer: string,
  limit: number,
): JoinRule[] {
  const sql = `SELECT * FROM join_rules INDEXED BY join_rules_por_emissor
    WHERE emissor = ? AND emissor IS NOT NULL AND ended_at IS NULL ORDER BY ordem DESC LIMIT ?`
  return session.all<JoinRuleRow>(sql, issuer, limit).map(toJoinRule)
}

export function selectJoinProof(session: SqlSession, id: string): ProofUser | undefined {
  const sql = 'SELECT hostname, token_hash AS tokenHash FROM join_provas WHERE id = ?'
  return session.get<ProofUser>(sql, id)
}

/** A token counts for a while after its end, and the clock of another hub may be behind, or this one set back. */
const PROOF_KEPT_MS = 24 * 3_600_000
/** In one write, which adds one. */
const PROOFS_FORGOTTEN_MAX = 100

export function claimJoinProof(session: SqlSession, proof: UsedProof, now: Date): void {
  session.run(
    `DELETE FROM join_provas WHERE id IN (SELECT id FROM join_provas INDEXED BY join_provas_por_fim
       WHERE expires_at <= ? ORDER BY expires_at, id LIMIT ?)`,
    now.getTime() - PROOF_KEPT_MS,
    PROOFS_FORGOTTEN_MAX,
  )
  const sql = `INSERT INTO join_provas (id, hostname, token_hash, expires_at) VALUES (?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET token_hash = excluded.token_hash,
       expires_at = max(expires_at, excluded.expires_at)
     WHERE hostname = excluded.hostname`
  session.run(sql, proof.id, proof.hostname, proof.tokenHash, proof.expiresAt.getTime())
}

export function toJoinRule(row: JoinRuleRow): JoinRule {
  const { watched_since: since, heard_at: heardAt } = row
  return {
    id: row.id,
    name: row.name,
    proof: toProof(row),
    role: row.role,
    pattern: row.pattern,
    labels: toLabels(row.labels),
    hostsMax: row.hosts_max,
    hosts: row.hosts,
    silentMs: row.silent_ms,
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
    endedAt: toDate(row.ended_at),
    watch:
      since === null || heardAt === null
        ? null
        : { since: new Date(since), heardAt: new Date(heardAt) },
  }
}

function fromJoinRule(rule: JoinRule): JoinRuleRow {
  return {
    id: rule.id,
    name: rule.name,
    ...fromProof(rule.proof),
    role: rule.role,
    pattern: rule.pattern,
    labels: fromLabels(rule.labels),
    hosts_max: rule.hostsMax,
    hosts: rule.hosts,
    silent_ms: rule.silentMs,
    created_at: rule.createdAt.getTime(),
    expires_at: rule.expiresAt.getTime(),
    ended_at: fromDate(rule.endedAt),
    watched_since: fromDate(rule.watch?.since ?? null),
    heard_at: fromDate(rule.watch?.heardAt ?? null),
  }
}
