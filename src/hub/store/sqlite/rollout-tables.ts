// The tables of rollouts: a step of migrations.ts. It only adds, and an earlier program leaves all of it alone: no rollout is begun while such
// a hub runs beside (docs/protocol.md RLO-6).

const LIVE_STATUSES = `('pendente', 'em_andamento', 'instalada', 'entregue', 'falhou')`

/**
 * What a wave gave to its hosts is in `entregas`, marked with rollout and wave; a host that is revoked is in no rollout any more. A row of
 * `rollout_alvos` is there only while a target is waited for (`esperado`), is taken back (`revertido`), or was in place before its host said
 * that the entrega is installed (`aplicado`).
 */
export const ROLLOUTS = `
CREATE TABLE rollouts (
  ordem INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 16),
  carga_id TEXT NOT NULL REFERENCES cargas (id),
  versao INTEGER NOT NULL,
  sans TEXT NOT NULL CHECK (json_type(sans) = 'array'),
  ondas TEXT NOT NULL CHECK (json_type(ondas) = 'array'),
  soak_ms INTEGER NOT NULL,
  late_ms INTEGER NOT NULL,
  max_failed TEXT NOT NULL,
  started_by TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  state TEXT NOT NULL,
  changed_by TEXT,
  reason TEXT,
  onda INTEGER NOT NULL,
  opened_at INTEGER NOT NULL,
  wanted INTEGER NOT NULL,
  threshold INTEGER,
  given INTEGER NOT NULL,
  is_given INTEGER NOT NULL CHECK (is_given IN (0, 1)),
  cursor INTEGER NOT NULL,
  open_ms INTEGER NOT NULL,
  soaked_ms INTEGER NOT NULL,
  tolerated INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE UNIQUE INDEX rollouts_abertos ON rollouts (carga_id) WHERE ended_at IS NULL;
CREATE TABLE rollouts_conteudo (
  rollout TEXT NOT NULL PRIMARY KEY REFERENCES rollouts (id),
  sha256 TEXT NOT NULL,
  escrow TEXT NOT NULL,
  conteudo BLOB NOT NULL
) STRICT;
ALTER TABLE entregas ADD COLUMN rollout TEXT;
ALTER TABLE entregas ADD COLUMN onda INTEGER;
CREATE INDEX entregas_por_rollout ON entregas (rollout, onda, status) WHERE rollout IS NOT NULL;
CREATE TABLE rollout_alvos (
  rollout TEXT NOT NULL,
  entrega_id TEXT NOT NULL REFERENCES entregas (id),
  alvo TEXT NOT NULL,
  estado TEXT NOT NULL CHECK (estado IN ('esperado', 'aplicado', 'revertido')),
  PRIMARY KEY (rollout, entrega_id, alvo)
) STRICT, WITHOUT ROWID;
CREATE INDEX rollout_alvos_por_entrega ON rollout_alvos (entrega_id);
CREATE TRIGGER rollout_sem_agente_revogado AFTER UPDATE OF revoked_at ON agentes
WHEN NEW.revoked_at IS NOT NULL
BEGIN UPDATE entregas SET rollout = NULL, onda = NULL
  WHERE agente_id = NEW.id AND status IN ${LIVE_STATUSES} AND rollout IS NOT NULL; END;
CREATE TRIGGER rollout_alvos_de_entrega_finda AFTER UPDATE OF status ON entregas
WHEN NEW.rollout IS NOT NULL AND NEW.status NOT IN ${LIVE_STATUSES}
BEGIN DELETE FROM rollout_alvos WHERE entrega_id = NEW.id; END;
CREATE TABLE freezes (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  until INTEGER NOT NULL,
  why TEXT NOT NULL,
  set_by TEXT NOT NULL,
  set_at INTEGER NOT NULL,
  ended_at INTEGER
) STRICT;
CREATE INDEX freezes_abertas ON freezes (until) WHERE ended_at IS NULL;
`
