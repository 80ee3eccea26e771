// What each agent owes for its events: two steps of migrations.ts.

/** What each agent's events have cost of late. Apart from its agent, whose row is read with every request. */
export const EVENT_DEBTS = `
CREATE TABLE agentes_eventos (
  agente_id TEXT NOT NULL PRIMARY KEY REFERENCES agentes (id),
  bytes INTEGER NOT NULL,
  reserva INTEGER NOT NULL,
  at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
`

/** Beside `last_seen_at`, which every event changes too: each event changes one page of its agent, where it changed two. */
export const DEBTS_BESIDE_SEEN = `
ALTER TABLE agentes ADD COLUMN eventos_bytes INTEGER;
ALTER TABLE agentes ADD COLUMN eventos_reserva INTEGER;
ALTER TABLE agentes ADD COLUMN eventos_at INTEGER;
UPDATE agentes SET eventos_bytes = debitos.bytes, eventos_reserva = debitos.reserva, eventos_at = debitos.at
  FROM agentes_eventos AS debitos WHERE agentes.id = debitos.agente_id;
DROP TABLE agentes_eventos;
`
