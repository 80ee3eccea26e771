// The tables, in numbered steps that only go forward. `PRAGMA user_version` is the number of steps a database has seen.
//
// Instants are integer milliseconds since 1970, except eventos.timestamp, which is hashed as the text that it is.
// `ordem` keeps the order of insertion. A table's rowid is the last column of each of its indexes, so an index for
// "the events of this agent, by seq" needs to name only the agent.

import { BOUNDED_ACCESS_TOKENS, TOKENS_OF_PEOPLE } from './access-tokens.ts'
import { AGENT_LABELS, LAST_LABELS } from './agent-labels.ts'
import { AGENT_POLLS } from './agent-polls.ts'
import { DECLARED } from './declared-rows.ts'
import { ENTRY_SUBJECTS, SELECTIONS_BY_CARGO } from './entry-subjects-tables.ts'
import { DEBTS_BESIDE_SEEN, EVENT_DEBTS } from './event-debts-tables.ts'
import { FIRST_ENDS } from './first-ends-tables.ts'
import { FLEET_CHANGES } from './fleet-changes-tables.ts'
import { FLEET_COUNTS } from './fleet-counts-tables.ts'
import { SUMMARY_COUNTS } from './fleet-summary-tables.ts'
import { CARGO_COUNTS } from './cargo-counts-tables.ts'
import { HOST_LISTS } from './host-lists.ts'
import { IN_USE, IN_USE_BEFORE } from './in-use-tables.ts'
import { CARGO_SELECTORS } from './cargo-rows.ts'
import { JOIN_RULE_KEYS, JOIN_RULES, WORKLOAD_TOKENS } from './join-rules.ts'
import { JOURNAL_POSITION } from './journal-position.ts'
import { LAST_RESTORE } from './last-restore.ts'
import { LISTS_BY_NAME } from './lists-by-name-tables.ts'
import { LISTS_OF_MANY } from './lists-of-many-tables.ts'
import { LOG_ARCHIVE } from './log-archive-tables.ts'
import { LOG_COSIGNED, LOG_TREE, LOG_TREE_CUT } from './log-tree-tables.ts'
import { type Migration, TABLES_READABLE } from './migration.ts'
import { OPEN_SIGNINGS } from './open-signings.ts'
import { KEPT_RECORDS } from './kept-records.ts'
import { OWN_CERTIFICATES } from './own-certificate.ts'
import { REVERTED_TARGETS } from './reverted-targets.ts'
import { NOTABLE_ENTRIES } from './notable-entries-tables.ts'
import { PASSKEYS } from './passkey-rows.ts'
import { ROLLOUTS } from './rollout-tables.ts'
import { SELECTOR_POLICIES } from './selector-policies.ts'
import { SESSIONS } from './session-rows.ts'
import { AGENT_SIGHTINGS } from './sightings.ts'
import { VAULT_KEYS } from './vault-keys.ts'
import { SELECTOR_WEBHOOKS } from './webhook-rows.ts'

const TABLES = `
CREATE TABLE agentes (
  id TEXT NOT NULL PRIMARY KEY,
  hostname TEXT NOT NULL,
  role TEXT NOT NULL,
  token_hash TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  last_seen_at INTEGER,
  last_poll_at INTEGER,
  revoked_at INTEGER,
  removed_at INTEGER,
  active_identity_seq INTEGER,
  active_identity_since INTEGER,
  CHECK ((active_identity_seq IS NULL) = (active_identity_since IS NULL))
) STRICT;
-- Apart from its agent, whose row changes with every event and is better small.
CREATE TABLE agentes_cert (
  agente_id TEXT NOT NULL PRIMARY KEY REFERENCES agentes (id),
  cert TEXT NOT NULL
) STRICT;
-- The row of a removed agent stays for the history; its hostname is free again.
CREATE UNIQUE INDEX agentes_por_hostname ON agentes (hostname) WHERE removed_at IS NULL;

CREATE TABLE enrollment_tokens (
  ordem INTEGER PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE CHECK (length(token_hash) = 64),
  expected_hostname TEXT NOT NULL,
  expected_role TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  consumed_at INTEGER,
  reenroll INTEGER NOT NULL CHECK (reenroll IN (0, 1)),
  mismatches INTEGER NOT NULL DEFAULT 0,
  replay_fingerprint TEXT,
  replay_agente_id TEXT,
  replay_cert TEXT,
  CHECK ((replay_fingerprint IS NULL) = (replay_cert IS NULL)),
  CHECK ((replay_fingerprint IS NULL) = (replay_agente_id IS NULL))
) STRICT;
CREATE INDEX tokens_abertos_por_hostname ON enrollment_tokens (expected_hostname)
  WHERE consumed_at IS NULL;

CREATE TABLE cargas (
  ordem INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  tipo TEXT NOT NULL CHECK (tipo IN ('csr_cert', 'selado', 'push')),
  nome TEXT NOT NULL,
  versao INTEGER NOT NULL CHECK (versao >= 1),
  sans TEXT NOT NULL CHECK (json_type(sans) = 'array'),
  created_at INTEGER NOT NULL,
  removed_at INTEGER
) STRICT;

CREATE TABLE entregas (
  ordem INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  carga_id TEXT NOT NULL REFERENCES cargas (id),
  agente_id TEXT NOT NULL REFERENCES agentes (id),
  status TEXT NOT NULL CHECK (status IN (
    'pendente', 'em_andamento', 'instalada', 'entregue', 'falhou', 'cancelada', 'substituida')),
  updated_at INTEGER NOT NULL,
  erro TEXT,
  versao INTEGER NOT NULL CHECK (versao >= 1),
  sans TEXT NOT NULL CHECK (json_type(sans) = 'array'),
  substituida_por TEXT REFERENCES entregas (id)
) STRICT;
CREATE INDEX entregas_por_agente ON entregas (agente_id, status);
CREATE INDEX entregas_por_carga ON entregas (carga_id);
CREATE INDEX entregas_por_sucessora ON entregas (substituida_por) WHERE substituida_por IS NOT NULL;
CREATE INDEX entregas_por_status ON entregas (status);

-- Proofs of recovery that were used, until they are too old to be used again.
CREATE TABLE provas_usadas (
  jti TEXT NOT NULL PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX provas_por_validade ON provas_usadas (expires_at);

CREATE TABLE politicas (
  role TEXT NOT NULL PRIMARY KEY,
  nome TEXT NOT NULL UNIQUE,
  token_ttl_max INTEGER,
  cert_ttl INTEGER,
  sans_permitidos TEXT NOT NULL CHECK (json_type(sans_permitidos) = 'array'),
  cargas_automaticas TEXT NOT NULL CHECK (json_type(cargas_automaticas) = 'array')
) STRICT;

CREATE TABLE certificados (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  sha256 TEXT NOT NULL UNIQUE CHECK (length(sha256) = 64),
  serial TEXT NOT NULL,
  agente_id TEXT NOT NULL REFERENCES agentes (id),
  purpose TEXT NOT NULL CHECK (purpose IN ('identity', 'delivery')),
  entrega_id TEXT REFERENCES entregas (id),
  not_before INTEGER NOT NULL,
  not_after INTEGER NOT NULL,
  revoked_at INTEGER,
  first_used_at INTEGER
) STRICT;
CREATE INDEX certificados_identidades ON certificados (agente_id) WHERE purpose = 'identity';
CREATE INDEX certificados_identidades_usadas ON certificados (agente_id)
  WHERE purpose = 'identity' AND first_used_at IS NOT NULL;
CREATE INDEX certificados_nao_revogados ON certificados (agente_id) WHERE revoked_at IS NULL;
CREATE INDEX certificados_por_entrega ON certificados (entrega_id) WHERE entrega_id IS NOT NULL;

-- The log outlives agents and deliveries, so it refers to them without foreign keys. Nothing looks an entry up by its
-- random id, and an index on it would touch a page of its own for every entry.
CREATE TABLE eventos (
  seq INTEGER PRIMARY KEY CHECK (seq >= 1),
  id TEXT NOT NULL,
  agente_id TEXT,
  tipo_evento TEXT NOT NULL,
  payload TEXT NOT NULL,
  entrega_id TEXT,
  request_id TEXT,
  timestamp TEXT NOT NULL CHECK (length(timestamp) = 27),
  hash_anterior TEXT NOT NULL CHECK (length(hash_anterior) = 64),
  hash_atual TEXT NOT NULL CHECK (length(hash_atual) = 64)
) STRICT;
-- By request first: agents make ids that sort by time, so all of them write at the end of it.
CREATE UNIQUE INDEX eventos_por_request ON eventos (request_id, agente_id) WHERE request_id IS NOT NULL;
CREATE INDEX eventos_por_agente ON eventos (agente_id);
CREATE INDEX eventos_por_tipo ON eventos (tipo_evento);
CREATE INDEX eventos_por_timestamp ON eventos (timestamp);

CREATE TRIGGER eventos_sem_update BEFORE UPDATE ON eventos
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
CREATE TRIGGER eventos_sem_delete BEFORE DELETE ON eventos
BEGIN SELECT RAISE(ABORT, 'the audit log is append-only'); END;
`

/** For good, also when the clock is set back. */
const ENDED_TOKENS = 'ALTER TABLE enrollment_tokens ADD COLUMN ended_at INTEGER;'

const SEALED_CARGOES = `
-- Apart from its agent, as its certificate is.
CREATE TABLE agentes_recipient (
  agente_id TEXT NOT NULL PRIMARY KEY REFERENCES agentes (id),
  recipient TEXT NOT NULL
) STRICT;
CREATE TABLE cargas_conteudo (
  carga_id TEXT NOT NULL PRIMARY KEY REFERENCES cargas (id),
  sha256 TEXT NOT NULL CHECK (length(sha256) = 64),
  escrow TEXT NOT NULL CHECK (json_type(escrow) = 'array'),
  conteudo BLOB NOT NULL
) STRICT;
`

/** What an operator asked of an agent, told by its stream however long that takes; the mode of a file that is pushed. */
const PUSHES = `
ALTER TABLE cargas_conteudo ADD COLUMN modo INTEGER;
CREATE TABLE pedidos (
  agente_id TEXT NOT NULL PRIMARY KEY REFERENCES agentes (id),
  sync_at INTEGER,
  rotate_at INTEGER,
  -- The newest identity at that time, by certificados.seq: one issued after it fulfils the request.
  rotate_after_seq INTEGER,
  CHECK ((rotate_at IS NULL) = (rotate_after_seq IS NULL))
) STRICT;
`

/** An endpoint is a cursor into eventos: what waits for it takes no rows. `segredo` signs what it is sent. */
const WEBHOOKS = `
CREATE TABLE webhooks (
  ordem INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  url TEXT NOT NULL,
  tipos TEXT NOT NULL CHECK (json_type(tipos) = 'array'),
  segredo TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  disabled_at INTEGER,
  geracao INTEGER NOT NULL,
  cursor_seq INTEGER NOT NULL,
  tentativas INTEGER NOT NULL,
  espera_ms INTEGER NOT NULL,
  next_attempt_at INTEGER,
  last_success_at INTEGER,
  last_error_at INTEGER,
  erro TEXT
) STRICT;
-- What was given up after three days.
CREATE TABLE webhooks_mortos (
  webhook_id TEXT NOT NULL REFERENCES webhooks (id) ON DELETE CASCADE,
  seq INTEGER NOT NULL,
  died_at INTEGER NOT NULL,
  erro TEXT NOT NULL,
  repetir INTEGER NOT NULL CHECK (repetir IN (0, 1)),
  PRIMARY KEY (webhook_id, seq)
) STRICT, WITHOUT ROWID;
`

/**
 * What a revoked certificate still lacks is revocation at the CA, until it expires. The first index is for the hub, which
 * works on them in the order in which they expire, the second for the certificates of one agent.
 */
const CA_REVOCATIONS = `
ALTER TABLE certificados ADD COLUMN ca_revoked_at INTEGER;
ALTER TABLE certificados ADD COLUMN ca_refused_at INTEGER;
ALTER TABLE certificados ADD COLUMN ca_reason TEXT;
CREATE INDEX certificados_por_revogar_na_ca ON certificados (not_after)
  WHERE revoked_at IS NOT NULL AND ca_revoked_at IS NULL;
CREATE INDEX certificados_por_revogar_na_ca_por_agente ON certificados (agente_id, not_after)
  WHERE revoked_at IS NOT NULL AND ca_revoked_at IS NULL;
`

const ROOT_SETS = `
-- Each set of roots that was in force; the last is.
CREATE TABLE raizes (
  numero INTEGER PRIMARY KEY CHECK (numero >= 1),
  roots TEXT NOT NULL,
  created_at INTEGER NOT NULL
) STRICT;
-- What each agent said last of the roots that it trusts.
CREATE TABLE agentes_raizes (
  agente_id TEXT NOT NULL PRIMARY KEY REFERENCES agentes (id),
  numero INTEGER,
  fingerprints TEXT NOT NULL CHECK (json_type(fingerprints) = 'array'),
  pinned TEXT CHECK (pinned IS NULL OR json_type(pinned) = 'array'),
  erro TEXT,
  reported_at INTEGER NOT NULL
) STRICT;
-- SHA-256 of the root that the chain leads to; null for what was obtained before this column.
ALTER TABLE certificados ADD COLUMN raiz TEXT;
`

const ADMIN_API = `
CREATE TABLE admin_tokens (
  ordem INTEGER PRIMARY KEY,
  token_hash TEXT NOT NULL UNIQUE CHECK (length(token_hash) = 64),
  name TEXT NOT NULL,
  role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'admin')),
  created_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  last_used_at INTEGER,
  revoked_at INTEGER
) STRICT;
-- What a create was answered, so that the same request again makes nothing twice; sealed, with a key that the hub lacks.
CREATE TABLE admin_respostas (
  id TEXT NOT NULL PRIMARY KEY,
  resposta BLOB NOT NULL,
  expires_at INTEGER NOT NULL
) STRICT;
CREATE INDEX admin_respostas_por_validade ON admin_respostas (expires_at);
`

/** For what each entry of the log asks: whose time is over, and has not been ended yet. */
const TOKENS_BY_END = `
CREATE INDEX tokens_por_fim ON enrollment_tokens (expires_at)
  WHERE consumed_at IS NULL AND ended_at IS NULL;
`

/** The same for admin tokens. */
const ENDED_ADMIN_TOKENS = `
ALTER TABLE admin_tokens ADD COLUMN ended_at INTEGER;
CREATE INDEX admin_tokens_por_fim ON admin_tokens (expires_at)
  WHERE revoked_at IS NULL AND ended_at IS NULL;
`

/**
 * Earlier versions left the tokens of a host good that they revoked. The log says which came first, whatever the clock
 * did; a token that is not in it was there before.
 */
const TOKENS_OF_REVOKED_HOSTS = `
UPDATE enrollment_tokens SET ended_at = agentes.revoked_at FROM agentes
WHERE agentes.hostname = enrollment_tokens.expected_hostname
  AND agentes.removed_at IS NULL AND agentes.revoked_at IS NOT NULL
  AND enrollment_tokens.consumed_at IS NULL AND enrollment_tokens.ended_at IS NULL
  AND NOT EXISTS (
    SELECT 1 FROM eventos WHERE tipo_evento = 'token_created'
      AND instr(payload, '"' || substr(enrollment_tokens.token_hash, 1, 16) || '"') > 0
      AND seq > coalesce(
        (SELECT max(seq) FROM eventos WHERE tipo_evento = 'agent_revoked'
          AND instr(payload, '"' || agentes.id || '"') > 0), 0));
`

/**
 * Indexes for queries of a full table: the open tokens of a hostname, without ended tokens; the entregas of one agent among
 * all entregas of a carga.
 */
const NO_QUERY_WALKS = `
DROP INDEX tokens_abertos_por_hostname;
CREATE INDEX tokens_abertos_por_hostname ON enrollment_tokens (expected_hostname)
  WHERE consumed_at IS NULL AND ended_at IS NULL;
DROP INDEX entregas_por_carga;
CREATE INDEX entregas_por_carga ON entregas (carga_id, agente_id);
`

/** Names that somebody set are told from the default by what they are: to permit all was no decision until now. */
const WHAT_OPERATORS_MAY = `
ALTER TABLE politicas ADD COLUMN sans_nomeados INTEGER NOT NULL DEFAULT 0
  CHECK (sans_nomeados IN (0, 1));
ALTER TABLE politicas ADD COLUMN reenroll INTEGER NOT NULL DEFAULT 0 CHECK (reenroll IN (0, 1));
UPDATE politicas SET sans_nomeados = 1 WHERE sans_permitidos <> '["*"]';
ALTER TABLE enrollment_tokens ADD COLUMN de_operador INTEGER NOT NULL DEFAULT 0
  CHECK (de_operador IN (0, 1));
`

/** What was counted until now is the first época. */
const EPOCHS_OF_ROOTS = `
ALTER TABLE raizes RENAME TO raizes_sem_epoca;
CREATE TABLE raizes (
  epoca INTEGER NOT NULL CHECK (epoca >= 1),
  numero INTEGER NOT NULL CHECK (numero >= 1),
  roots TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (epoca, numero)
) STRICT;
INSERT INTO raizes SELECT 1, numero, roots, created_at FROM raizes_sem_epoca;
DROP TABLE raizes_sem_epoca;
`

/** Who signed the set, and how agents follow from one trust key to the next; a set before this has no signature. */
const SIGNED_ROOTS = `
ALTER TABLE raizes ADD COLUMN confianca TEXT;
`

/** Older than vaults that hubs share: no earlier program can go on after any of these. */
const STEPS: readonly string[] = [
  TABLES,
  ENDED_TOKENS,
  SEALED_CARGOES,
  PUSHES,
  WEBHOOKS,
  CA_REVOCATIONS,
  IN_USE,
  ROOT_SETS,
  ADMIN_API,
  TOKENS_BY_END,
  IN_USE_BEFORE,
  ENDED_ADMIN_TOKENS,
  TOKENS_OF_REVOKED_HOSTS,
  NO_QUERY_WALKS,
  WHAT_OPERATORS_MAY,
  EPOCHS_OF_ROOTS,
  EVENT_DEBTS,
  FLEET_CHANGES,
  FLEET_COUNTS,
  AGENT_POLLS,
  FIRST_ENDS,
  DEBTS_BESIDE_SEEN,
  REVERTED_TARGETS,
  ENTRY_SUBJECTS,
  AGENT_SIGHTINGS,
  LISTS_BY_NAME,
  LOG_TREE,
  VAULT_KEYS,
  SIGNED_ROOTS,
  LOG_TREE_CUT,
  LAST_RESTORE,
  LOG_ARCHIVE,
  LOG_COSIGNED,
  JOURNAL_POSITION,
  OPEN_SIGNINGS,
  OWN_CERTIFICATES,
  TABLES_READABLE,
]

/** A later step goes behind these, and says from which version on its tables are readable. */
export const MIGRATIONS: readonly Migration[] = [
  ...STEPS.map((sql, at) => ({ sql, readableFrom: at + 1 })),
  // A table that only a vault with a standby fills.
  { sql: KEPT_RECORDS, readableFrom: STEPS.length },
  // Earlier programs leave labels alone: a host that enrols at their hub gets none of its token.
  { sql: AGENT_LABELS, readableFrom: STEPS.length },
  // Earlier programs do not find a token that is bounded: domain/hash-token.ts.
  { sql: BOUNDED_ACCESS_TOKENS, readableFrom: STEPS.length },
  { sql: JOIN_RULES, readableFrom: STEPS.length },
  // Earlier programs give a carga to the hosts that it was made for, and leave those that come to match alone.
  { sql: CARGO_SELECTORS, readableFrom: STEPS.length },
  // Earlier programs know no token of a workload: token_not_found.
  { sql: WORKLOAD_TOKENS, readableFrom: STEPS.length },
  { sql: SELECTOR_POLICIES, readableFrom: STEPS.length },
  { sql: LAST_LABELS, readableFrom: STEPS.length },
  // An earlier program takes a webhook with a selector for one that is disabled: webhook-rows.ts.
  { sql: SELECTOR_WEBHOOKS, readableFrom: STEPS.length },
  { sql: DECLARED, readableFrom: STEPS.length },
  { sql: ROLLOUTS, readableFrom: STEPS.length },
  // Earlier programs know no proof of a host's own key: token_not_found.
  { sql: JOIN_RULE_KEYS, readableFrom: STEPS.length },
  // Earlier programs know no session: admin_token_invalid. So they ask nobody for a passkey.
  { sql: SESSIONS + TOKENS_OF_PEOPLE + PASSKEYS, readableFrom: STEPS.length },
  // Counts that triggers keep up, whatever the program is that writes.
  { sql: SUMMARY_COUNTS, readableFrom: STEPS.length },
  { sql: NOTABLE_ENTRIES, readableFrom: STEPS.length },
  { sql: HOST_LISTS, readableFrom: STEPS.length },
  { sql: CARGO_COUNTS + LISTS_OF_MANY, readableFrom: STEPS.length },
  // Its triggers index what earlier programs write, too.
  { sql: SELECTIONS_BY_CARGO, readableFrom: STEPS.length },
]
