// The certificates that live hosts use now, each a row: `certificados` keeps all that there ever were, so questions about
// the fleet are asked of this table. Two views say which rows it has; triggers make it follow them.
export const IN_USE: string = `
CREATE TABLE validades (
  certificado INTEGER PRIMARY KEY REFERENCES certificados (seq),
  agente_id TEXT NOT NULL,
  purpose TEXT NOT NULL,
  entrega_id TEXT,
  not_before INTEGER NOT NULL,
  not_after INTEGER NOT NULL,
  CHECK ((purpose = 'delivery') = (entrega_id IS NOT NULL))
) STRICT;
CREATE UNIQUE INDEX validades_por_identidade ON validades (agente_id) WHERE entrega_id IS NULL;
CREATE UNIQUE INDEX validades_por_entrega ON validades (entrega_id) WHERE entrega_id IS NOT NULL;
CREATE INDEX validades_por_agente ON validades (agente_id);
CREATE INDEX validades_por_fim ON validades (not_after, not_before, agente_id);
CREATE INDEX validades_por_uso ON validades (purpose, not_after, not_before);
CREATE INDEX agentes_por_estado ON agentes (revoked_at) WHERE removed_at IS NULL;
CREATE INDEX entregas_por_espera ON entregas (status, updated_at);
DROP INDEX entregas_por_status;

CREATE VIEW identidades_em_uso AS
  SELECT agentes.id AS agente_id, coalesce(
    (SELECT seq FROM certificados WHERE agente_id = agentes.id AND purpose = 'identity'
      AND first_used_at IS NOT NULL AND revoked_at IS NULL ORDER BY seq DESC LIMIT 1),
    (SELECT seq FROM certificados WHERE agente_id = agentes.id AND purpose = 'identity'
      AND revoked_at IS NULL ORDER BY seq LIMIT 1)) AS seq
  FROM agentes WHERE revoked_at IS NULL AND removed_at IS NULL;
CREATE VIEW entregas_em_uso AS
  SELECT entregas.id AS entrega_id, entregas.agente_id AS agente_id,
    (SELECT seq FROM certificados WHERE entrega_id = entregas.id AND entrega_id IS NOT NULL
      AND purpose = 'delivery' AND revoked_at IS NULL ORDER BY seq DESC LIMIT 1) AS seq
  FROM entregas JOIN agentes ON agentes.id = entregas.agente_id
  WHERE entregas.status IN ('instalada', 'entregue')
    AND agentes.revoked_at IS NULL AND agentes.removed_at IS NULL;

${takeIn('identidades_em_uso')};
${takeIn('entregas_em_uso')};

CREATE TRIGGER validades_identidade_nova AFTER INSERT ON certificados
WHEN NEW.purpose = 'identity' AND NOT EXISTS
  (SELECT 1 FROM validades WHERE agente_id = NEW.agente_id AND entrega_id IS NULL)
BEGIN ${followIdentity('NEW.agente_id')}; END;
CREATE TRIGGER validades_entrega_nova AFTER INSERT ON certificados WHEN NEW.purpose = 'delivery'
BEGIN ${followDelivery('NEW.entrega_id')}; END;
CREATE TRIGGER validades_identidade_usada AFTER UPDATE OF first_used_at ON certificados
WHEN NEW.purpose = 'identity'
BEGIN ${followIdentity('NEW.agente_id')}; END;
CREATE TRIGGER validades_outro_uso AFTER UPDATE OF purpose, entrega_id ON certificados
BEGIN ${followIdentity('NEW.agente_id')}; ${followDelivery('NEW.entrega_id')}; END;
CREATE TRIGGER validades_revogado AFTER UPDATE OF revoked_at ON certificados
WHEN EXISTS (SELECT 1 FROM validades WHERE certificado = NEW.seq)
BEGIN ${followIdentity('NEW.agente_id')}; ${followDelivery('NEW.entrega_id')}; END;
CREATE TRIGGER validades_agente AFTER UPDATE OF revoked_at, removed_at ON agentes
WHEN (NEW.revoked_at IS NULL AND NEW.removed_at IS NULL)
  <> (OLD.revoked_at IS NULL AND OLD.removed_at IS NULL)
BEGIN
  DELETE FROM validades WHERE agente_id = NEW.id;
  ${takeIn('identidades_em_uso')} WHERE em_uso.agente_id = NEW.id;
  ${takeIn('entregas_em_uso')} WHERE em_uso.agente_id = NEW.id;
END;
CREATE TRIGGER validades_status AFTER UPDATE OF status ON entregas
WHEN NEW.status IS NOT OLD.status
BEGIN ${followDelivery('NEW.id')}; END;
`

/** A certificate that moves from one delivery to another is no longer in use for the first. */
export const IN_USE_BEFORE: string = `
DROP TRIGGER validades_outro_uso;
CREATE TRIGGER validades_outro_uso AFTER UPDATE OF purpose, entrega_id ON certificados
BEGIN
  ${followDelivery('OLD.entrega_id')};
  ${followIdentity('NEW.agente_id')}; ${followDelivery('NEW.entrega_id')};
END;
`

function followIdentity(agent: string): string {
  return `DELETE FROM validades WHERE agente_id = ${agent} AND entrega_id IS NULL;
  ${takeIn('identidades_em_uso')} WHERE em_uso.agente_id = ${agent}`
}

function followDelivery(delivery: string): string {
  return `DELETE FROM validades WHERE entrega_id = ${delivery} AND entrega_id IS NOT NULL;
  ${takeIn('entregas_em_uso')} WHERE em_uso.entrega_id = ${delivery}`
}

function takeIn(view: string): string {
  return `INSERT INTO validades
    SELECT certificados.seq, certificados.agente_id, certificados.purpose,
      certificados.entrega_id, certificados.not_before, certificados.not_after
    FROM ${view} AS em_uso JOIN certificados ON certificados.seq = em_uso.seq`
}
