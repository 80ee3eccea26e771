// All tables full, so that a query which walks through one is dear: as many rows in each as asked for, and for each thing
// that others hang on (an agent, a carga, a hostname, a webhook) one that has as many of them itself.

import type { Connection } from '../../src/hub/store/sqlite/encrypted-database.ts'
import type {
  AgentId,
  CargoId,
  DeliveryId,
  JoinRuleId,
  RolloutId,
  TokenHash,
  WebhookId,
} from '../../src/protocol/identifiers.ts'

/** Before it everything that has an end has ended, after it nothing has. */
export const FILLED_AT: Date = new Date(5_000_000)

export const HEAVY = {
  agentId: '00000000-0000-4000-8000-000000000001' as AgentId,
  hostname: 'host-1',
  cargoId: '10000000-0000-4000-8000-000000000001' as CargoId,
  joinRuleId: 'ffffffffffffffff' as JoinRuleId,
  /** Of the carga, and open. */
  rolloutId: 'eeeeeeeeeeeeeeee' as RolloutId,
  rotationId: 'ffffffffffffffff' as RolloutId,
  updateId: 'fffffffffffffffe' as RolloutId,
  webhookId: '20000000-0000-4000-8000-000000000001' as WebhookId,
}

/** One of many, in the middle of them. */
export const ORDINARY = {
  agentId: '00000000-0000-4000-8000-000000000123' as AgentId,
  hostname: 'host-291',
  cargoId: '10000000-0000-4000-8000-000000000123' as CargoId,
  /** Installed, with a successor that is not. */
  deliveryId: '30000000-0000-4000-8000-000000000123' as DeliveryId,
  successorId: '40000000-0000-4000-8000-000000000123' as DeliveryId,
  certificate: '000000123'.padEnd(64, '0'),
  tokenHash: 'a00000123'.padEnd(64, '0') as TokenHash,
  joinRuleId: '000000000000007b' as JoinRuleId,
  rolloutId: '000000000000007b' as RolloutId,
}

const uuid = (first: string): string => `printf('${first}0000000-0000-4000-8000-%012x', i)`
const digits = (first: string): string => `printf('${first}%08x%055x', i, 0)`
const EARLY = 1_000_000
const LATE = 9_000_000

/** With foreign keys as they have to be; triggers run as they would, but for those of `validades`, which is filled after. */
export function fillTables(connection: Connection, rows: number): void {
  const each = `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})`
  const triggers = connection
    .prepare(
      `SELECT name, sql FROM sqlite_master WHERE type = 'trigger' AND name LIKE 'validades%'`,
    )
    .all() as { name: string; sql: string }[]
  connection.transaction(() => {
    for (const { name } of triggers) connection.exec(`DROP TRIGGER ${name}`)
    for (const statement of statements(each)) connection.exec(statement)
    for (const { sql } of triggers) connection.exec(sql)
  })()
}

function statements(each: string): string[] {
  const { agentId, cargoId, rolloutId, rotationId, updateId, webhookId } = HEAVY
  const newRollouts = `INSERT INTO rollouts (id, kind, carga_id, versao, sans, programa, ondas, soak_ms, late_ms, max_failed, started_by, created_at, state, onda, opened_at, wanted, threshold, given, is_given, cursor, open_ms, soaked_ms, tolerated, ended_at)`
  const newDeliveries = `INSERT INTO entregas (id, carga_id, agente_id, status, updated_at, erro, versao, sans, substituida_por)`
  const newCertificates = `INSERT INTO certificados (sha256, serial, agente_id, purpose, entrega_id, not_before, not_after, raiz, revoked_at, ca_revoked_at)`
  const newTokens = `INSERT INTO enrollment_tokens (token_hash, expected_hostname, expected_role, created_at, expires_at, consumed_at, ended_at, reenroll)`
  const newEntries = `INSERT INTO eventos (id, agente_id, tipo_evento, payload, request_id, timestamp, hash_anterior, hash_atual)`
  const hash = `'${'0'.repeat(64)}'`
  const at = `'1970-01-01T00:00:00.000000Z'`
  return [
    `${each} INSERT INTO agentes (id, hostname, role, token_hash, created_at)
       SELECT ${uuid('0')}, 'host-' || i, 'web', 't', 1 FROM n`,
    'INSERT INTO agentes_cert SELECT id, hostname FROM agentes',
    'INSERT INTO agentes_recipient SELECT id, hostname FROM agentes',
    'UPDATE agentes SET eventos_bytes = 1, eventos_reserva = 1, eventos_at = 1',
    'INSERT INTO agentes_polls SELECT id, 1 FROM agentes',
    "INSERT INTO agentes_vistos SELECT id, '0.4.0', NULL, '[]', 1 FROM agentes",
    `${each} INSERT INTO agentes_labels SELECT ${uuid('0')}, 'env', 'prod', 'host-' || i FROM n`,
    `${each} INSERT INTO agentes_labels SELECT ${uuid('0')}, 'zone', 'z' || i, 'host-' || i FROM n`,
    `INSERT INTO agentes_labels VALUES ('${ORDINARY.agentId}', 'canary', '', '${ORDINARY.hostname}')`,
    'INSERT INTO pedidos (agente_id, sync_at) SELECT id, 1 FROM agentes',
    `INSERT INTO agentes_raizes (agente_id, numero, fingerprints, reported_at)
       SELECT id, 1, '[]', 1 FROM agentes`,
    `${each} INSERT INTO cargas (id, tipo, nome, versao, sans, created_at)
       SELECT ${uuid('1')}, 'push', 'file-' || i, 2, '[]', 1 FROM n`,
    `INSERT INTO cargas_conteudo (carga_id, sha256, escrow, conteudo) SELECT id, ${hash}, '[]', x'00' FROM cargas`,
    // One carga of every agent, in its second version; and all that one agent ever had.
    `${each} ${newDeliveries} SELECT ${uuid('4')}, '${cargoId}', ${uuid('0')},
       iif(i % 10 = 0, 'falhou', 'pendente'), i, NULL, 2, '[]', NULL FROM n`,
    `${each} ${newDeliveries} SELECT ${uuid('3')}, '${cargoId}', ${uuid('0')},
       iif(i % 2 = 0, 'falhou', 'instalada'), i, NULL, 1, '[]', ${uuid('4')} FROM n`,
    `INSERT INTO alvos_revertidos SELECT id, 'nginx.toml', agente_id, updated_at, 'why'
       FROM entregas WHERE versao = 1`,
    `${each} ${newDeliveries} SELECT ${uuid('5')}, ${uuid('1')}, '${agentId}', 'cancelada', i, NULL, 1, '[]', NULL FROM n`,
    `${each} ${newCertificates} SELECT ${digits('0')}, '01', ${uuid('0')}, 'identity', NULL, 1, ${LATE}, ${hash}, NULL, NULL FROM n`,
    `${each} ${newCertificates} SELECT ${digits('1')}, '01', ${uuid('0')}, 'delivery', ${uuid('3')}, 1, ${LATE}, ${hash}, NULL, NULL FROM n`,
    `${each} ${newCertificates} SELECT ${digits('2')}, '01', '${agentId}', 'identity', NULL, 1, ${EARLY}, ${hash}, 1, iif(i % 2 = 0, 1, NULL) FROM n`,
    `INSERT INTO validades SELECT seq, agente_id, purpose, entrega_id, not_before, not_after
       FROM certificados WHERE revoked_at IS NULL`,
    `${each} ${newTokens} SELECT ${digits('a')}, 'host-' || i, 'web', 1, ${LATE}, NULL, NULL, 1 FROM n`,
    `${each} ${newTokens} SELECT ${digits('b')}, 'host-1', 'web', 1, ${EARLY}, NULL, ${EARLY}, 1 FROM n`,
    `${each} INSERT INTO admin_tokens (token_hash, name, role, created_at, expires_at, ended_at)
       SELECT ${digits('c')}, 'ci-' || i, 'viewer', 1, ${EARLY}, ${EARLY} FROM n`,
    `${each} INSERT INTO admin_tokens (token_hash, name, role, created_at, expires_at, emissor, sujeito)
       SELECT ${digits('4')}, 'person-' || i || '@example.org', 'viewer', 1, ${LATE}, 'https://sso.example.org', i FROM n`,
    `${each} INSERT INTO sessoes SELECT i, ${digits('6')}, ${digits('7')}, ${digits('c')}, '192.0.2.7', i, i, ${LATE}, NULL FROM n`,
    `${each} INSERT INTO passkeys SELECT i, 'credential-' || i, 'ci-' || i, NULL, NULL, 'key', x'00', '[]', 0, i, i, NULL FROM n`,
    `${each} INSERT INTO passkeys SELECT NULL, 'of-person-' || i, 'ana', 'https://sso.example.org', i, 'key', x'00', '[]', 0, i, i, NULL FROM n`,
    `${each} INSERT INTO codigos_de_entrada SELECT ${digits('5')}, ${digits('c')}, ${LATE}, NULL FROM n`,
    `${each} INSERT INTO admin_respostas SELECT ${digits('d')}, x'00', ${LATE} FROM n`,
    `${each} INSERT INTO join_rules (id, name, method, token_hash, role, pattern, hosts_max, hosts, created_at, expires_at, ended_at)
       SELECT printf('%016x', i), 'rule-' || i, 'token', ${digits('8')}, 'web', '*.example', 10000, 1, 1, ${EARLY}, ${EARLY} FROM n`,
    `${each} INSERT INTO join_chaves SELECT 'x5c:' || ${digits('7')}, printf('%016x', i) FROM n`,
    `INSERT INTO join_rules (id, name, method, token_hash, role, pattern, hosts_max, silent_ms, created_at, expires_at)
       VALUES ('${HEAVY.joinRuleId}', 'heavy', 'token', '${'7'.repeat(64)}', 'web', '*.example', 10000, 1, 1, ${LATE})`,
    `${each} ${newTokens.replace('reenroll)', 'reenroll, join_rule)')} SELECT ${digits('d')}, 'host-' || i, 'web', 1, ${LATE}, 1, NULL, 0, '${HEAVY.joinRuleId}' FROM n`,
    `${each} INSERT INTO assinaturas_abertas (id, asked_at, token_hash, join_rule, pedido)
       SELECT ${digits('0')}, 1, ${digits('9')}, iif(i < 50, printf('%016x', 123), printf('%016x', i)), '{}' FROM n`,
    `${each} INSERT INTO provas_usadas SELECT ${digits('e')}, ${LATE} FROM n`,
    `${each} INSERT INTO politicas (role, nome, sans_permitidos, cargas_automaticas)
       SELECT 'role-' || i, 'name-' || i, '[]', '[]' FROM n`,
    `${each} INSERT INTO agentes_labels_ao_sair SELECT ${uuid('0')}, '{}' FROM n`,
    `${each} INSERT INTO politicas_por_seletor (nome, seletor, sans_permitidos, sans_nomeados, cargas_automaticas)
       SELECT 'politica-' || i, 'env=e' || i, '[]', 0, '[]' FROM n`,
    `${each} INSERT INTO raizes SELECT 1, i, 'pem', 1, NULL FROM n`,
    `${each} ${newEntries} SELECT 'e' || i, ${uuid('0')}, 'noted', '{}', 'r' || i, ${at}, ${hash}, ${hash} FROM n`,
    `${each} ${newEntries} SELECT 'f' || i, '${agentId}', 'agent_started', '{}', NULL, ${at}, ${hash}, ${hash} FROM n`,
    `${each} ${newEntries} SELECT 'g' || i, NULL, 'certificate_issued',
       json_object('actor', 'hub', 'agente_id', iif(i % 2 = 0, '${agentId}', ${uuid('0')})), NULL, ${at}, ${hash}, ${hash} FROM n`,
    // Half of them are yet to be indexed.
    `${each} INSERT INTO arvore_nos SELECT 8 + i % 4, i / 4, randomblob(32) FROM n`,
    `${each} INSERT INTO segmentos SELECT 256 * i, 256 * i - 255, ${at}, ${at}, ${hash}, ${hash}, 'file', 1, 1 FROM n`,
    `UPDATE assuntos_indexados SET desde = (SELECT max(seq) FROM eventos) - 15000`,
    "INSERT INTO mudancas (acao, actor) VALUES ('retry', 'admin')",
    `${each} ${newRollouts} SELECT printf('%016x', i), 'load', ${uuid('1')}, 2, '[]', NULL, '["100%"]', 0, 0, '0', 'admin', 1, 'done', 0, 1, 1, 1, 1, 1, '', 0, 0, 0, 1 FROM n`,
    `${newRollouts} VALUES ('${rolloutId}', 'load', '${cargoId}', 2, '[]', NULL, '["100%"]', 0, 0, '0', 'admin', 1, 'running', 0, 1, 1, 1, 1, 1, '', 0, 0, 0, NULL)`,
    `${newRollouts} VALUES ('${rotationId}', 'rotation', NULL, NULL, NULL, NULL, '["100%"]', 0, 0, '0', 'admin', 1, 'running', 0, 1, 1, 1, 1, 1, '', 0, 0, 0, NULL)`,
    `${newRollouts} VALUES ('${updateId}', 'update', NULL, NULL, NULL, '0.5.0', '["100%"]', 0, 0, '0', 'admin', 1, 'running', 0, 1, 1, 1, 1, 1, '', 0, 0, 0, NULL)`,
    `INSERT INTO rollout_agentes SELECT id, 'rotation', '${rotationId}', rowid % 3, iif(rowid % 2 = 0, 'done', 'pending'), 0, 1, NULL FROM agentes`,
    `INSERT INTO rollout_agentes SELECT id, 'update', '${updateId}', rowid % 3, iif(rowid % 2 = 0, 'declined', 'pending'), 0, 0, 'why' FROM agentes`,
    `INSERT INTO rollouts_conteudo SELECT id, ${hash}, '[]', x'00' FROM rollouts`,
    `UPDATE entregas SET rollout = '${rolloutId}', onda = ordem % 3 WHERE versao = 2 OR id = '${ORDINARY.deliveryId}'`,
    `INSERT INTO rollout_alvos SELECT rollout, id, 'nginx.toml', iif(ordem % 2 = 0, 'esperado', 'revertido')
       FROM entregas WHERE rollout IS NOT NULL`,
    `${each} INSERT INTO freezes (until, why, set_by, set_at, ended_at) SELECT i, 'why', 'admin', 1, 1 FROM n`,
    `INSERT INTO webhooks (id, url, tipos, segredo, created_at, geracao, cursor_seq, tentativas, espera_ms)
       VALUES ('${webhookId}', 'https://receiver.example', '[]', 's', 1, 1, 1, 0, 0)`,
    `${each} INSERT INTO declarados (tipo, objeto, campo, nome, gestor)
       SELECT 'agente', ${uuid('0')}, 'env', 'host-' || i, 'team-' || i FROM n`,
    `${each} INSERT INTO webhooks_mortos SELECT '${webhookId}', i, 1, 'why', 0 FROM n`,
  ]
}
