// The tables of rollouts: a step of migrations.ts. An earlier program leaves all of them alone: no rollout is begun while such a hub runs
// beside (docs/protocol.md RLO-6).

const LIVE_STATUSES = `('pendente', 'em_andamento', 'instalada', 'entregue', 'falhou')`

/**
 * What a wave gave to its hosts is in `entregas`, marked with rollout and wave; a host that is revoked is in no rollout any more. A row of
 * `rollout_alvos` is there only while a target is waited for (`esperado`), is taken back (`revertido`), or was in place before its host said
 * that the entrega is installed (`aplicado`).
 *
 * A host is in one rollout of each of the other kinds, the last that reached it: a row of `rollout_agentes`. In a rotation it is done in the commit
 * in which it first uses an identity that was issued since it was asked (after the one of number `marca`), with roots when it says that it trusts
 * the set of that number. `pediu` says that what `pedidos` asks of the host is what the rollout asked: nobody has asked since. `erro` is why it
 * failed to install the announced program, or why it did not try.
 */
export const ROLLOUTS = `
CREATE TABLE rollouts (
  ordem INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE CHECK (length(id) = 16),
  kind TEXT NOT NULL,
  carga_id TEXT REFERENCES cargas (id),
  versao INTEGER,
  sans TEXT CHECK (sans IS NULL OR json_type(sans) = 'array'),
  seletor TEXT,
  programa TEXT,
  epoca INTEGER,
  base INTEGER,
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
  cursor TEXT NOT NULL,
  open_ms INTEGER NOT NULL,
  soaked_ms INTEGER NOT NULL,
  tolerated INTEGER NOT NULL,
  ended_at INTEGER,
  CHECK ((kind = 'load') = (carga_id IS NOT NULL)),
  CHECK ((carga_id IS NULL) = (sans IS NULL)),
  CHECK ((kind = 'update') = (programa IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX rollouts_abertos ON rollouts (kind, carga_id) WHERE ended_at IS NULL;
CREATE UNIQUE INDEX rollouts_abertos_sem_carga ON rollouts (kind) WHERE ended_at IS NULL AND carga_id IS NULL;
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
CREATE TABLE rollout_agentes (
  agente_id TEXT NOT NULL REFERENCES agentes (id),
  kind TEXT NOT NULL,
  rollout TEXT NOT NULL REFERENCES rollouts (id),
  onda INTEGER NOT NULL,
  estado TEXT NOT NULL CHECK (estado IN ('pending', 'done', 'failed', 'declined', 'withdrawn')),
  marca INTEGER NOT NULL,
  pediu INTEGER NOT NULL CHECK (pediu IN (0, 1)),
  erro TEXT,
  PRIMARY KEY (agente_id, kind)
) STRICT, WITHOUT ROWID;
CREATE INDEX rollout_agentes_por_estado ON rollout_agentes (rollout, estado, onda);
CREATE TRIGGER rollout_agentes_pedido AFTER UPDATE OF rotate_at ON pedidos
BEGIN UPDATE rollout_agentes SET pediu = 0 WHERE agente_id = NEW.agente_id AND kind = 'rotation' AND pediu = 1; END;
CREATE TRIGGER rollout_agentes_renovado AFTER UPDATE OF active_identity_seq ON agentes
WHEN NEW.active_identity_seq IS NOT OLD.active_identity_seq
BEGIN UPDATE rollout_agentes SET estado = 'done'
  WHERE agente_id = NEW.id AND kind = 'rotation' AND estado = 'pending' AND marca < NEW.active_identity_seq; END;
${['INSERT', 'UPDATE']
  .map(
    (
      act,
    ) => `CREATE TRIGGER rollout_agentes_raizes_${act.toLowerCase()} AFTER ${act} ON agentes_raizes
BEGIN UPDATE rollout_agentes SET estado = iif(NEW.numero = marca, 'done', 'failed')
  WHERE agente_id = NEW.agente_id AND kind = 'roots' AND estado IN ('pending', 'failed')
    AND (NEW.numero = marca OR NEW.erro IS NOT NULL); END;`,
  )
  .join('\n')}
CREATE TRIGGER rollout_agentes_sem_revogado AFTER UPDATE OF revoked_at ON agentes
WHEN NEW.revoked_at IS NOT NULL
BEGIN DELETE FROM rollout_agentes WHERE agente_id = NEW.id; END;
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
