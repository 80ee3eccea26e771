import { invariant } from '../../../platform/errors.ts'
import type { AgentId, CargoId, DeliveryId, RolloutId } from '../../../protocol/identifiers.ts'
import { WAVES_MAX } from '../../../protocol/rollout-share.ts'
import { REVERTED_TARGETS_MAX } from '../../domain/reverted-target.ts'
import type { CargoContent, ContentSummary } from '../../domain/cargo.ts'
import type { Freeze } from '../../domain/freeze.ts'
import {
  isLoadRollout,
  isUpdateRollout,
  type LoadRollout,
  type Rollout,
  type RolloutCounts,
  type RolloutKind,
} from '../../domain/rollout.ts'
import type {
  AnnouncedProgram,
  AskedHost,
  RefusingHost,
  RolloutReader,
  RolloutWaveCounts,
  RolloutWriter,
  UpdateReport,
} from '../rollout-store.ts'
import type { Page, Replacement } from '../store.ts'
import { type ContentRow, toContent } from './cargo-rows.ts'
import { replaceDeliveries } from './deliveries.ts'
import { selectPage } from './pages.ts'
import {
  type FreezeRow,
  fromRollout,
  type RolloutRow,
  toFreeze,
  toRollout,
} from './rollout-rows.ts'
import type { NamedParameters, SqlSession } from './sql-session.ts'

const ON_HOST = `('instalada', 'entregue')`
const PENDING = `('pendente', 'em_andamento')`

const PAGES = {
  placeOf: 'SELECT ordem AS place FROM rollouts WHERE id = ?',
  parametersOf: (after: string) => [after],
  beginning: Number.MAX_SAFE_INTEGER,
  rows: 'SELECT * FROM rollouts WHERE ordem < ? ORDER BY ordem DESC LIMIT ?',
  translate: toRollout,
}

const HOSTS_IN_STATE = `SELECT agente_id, erro FROM rollout_agentes INDEXED BY rollout_agentes_por_estado
  WHERE rollout = @id AND estado = @state ORDER BY onda, agente_id LIMIT @limit`
/** In these the hosts of its waves are told of a version. */
const TELLING: readonly string[] = ['running', 'paused', 'done']

type Counted = { -readonly [Key in keyof RolloutWaveCounts]: RolloutWaveCounts[Key] }

/** By number, so that each is a look at the index, and not a walk over all hosts of the rollout. */
const WAVES = Array.from({ length: WAVES_MAX }, (_, at) => at).join(', ')

export class SqliteRolloutReader implements RolloutReader {
  protected readonly session: () => SqlSession

  constructor(session: () => SqlSession) {
    this.session = session
  }

  async find(id: RolloutId): Promise<Rollout | undefined> {
    const row = this.session().get<RolloutRow>('SELECT * FROM rollouts WHERE id = ?', id)
    return row && toRollout(row)
  }

  async findOpen(id: CargoId): Promise<LoadRollout | undefined> {
    const sql = `SELECT * FROM rollouts INDEXED BY rollouts_abertos
      WHERE kind = 'load' AND carga_id = ? AND ended_at IS NULL`
    const row = this.session().get<RolloutRow>(sql, id)
    const rollout = row && toRollout(row)
    invariant(rollout === undefined || isLoadRollout(rollout), 'it is the rollout of a carga')
    return rollout
  }

  async findOpenOf(kind: Exclude<RolloutKind, 'load'>): Promise<Rollout | undefined> {
    const sql = `SELECT * FROM rollouts INDEXED BY rollouts_abertos
      WHERE kind = ? AND carga_id IS NULL AND ended_at IS NULL`
    const row = this.session().get<RolloutRow>(sql, kind)
    return row && toRollout(row)
  }

  async listOpen(): Promise<Rollout[]> {
    const sql = `SELECT * FROM rollouts INDEXED BY rollouts_abertos
      WHERE kind > '' AND ended_at IS NULL ORDER BY ordem`
    return this.session().all<RolloutRow>(sql).map(toRollout)
  }

  async page(page: Page): Promise<Rollout[] | undefined> {
    return selectPage(this.session(), PAGES, page)
  }

  async findContent(id: RolloutId): Promise<CargoContent | undefined> {
    const sql = `SELECT sha256, escrow, conteudo, NULL AS modo FROM rollouts_conteudo WHERE rollout = ?`
    const row = this.session().get<ContentRow>(sql, id)
    return row && toContent(row)
  }

  async summarizeContent(id: RolloutId): Promise<ContentSummary | undefined> {
    const sql = `SELECT sha256, length(conteudo) AS byteCount FROM rollouts_conteudo WHERE rollout = ?`
    return this.session().get<ContentSummary>(sql, id)
  }

  async countWaves(id: RolloutId, silentSince?: Date): Promise<RolloutWaveCounts[]> {
    const waves = new Map<number, Counted>()
    const of = (wave: number): Counted => {
      const known = waves.get(wave)
      if (known !== undefined) return known
      const fresh = { wave, pending: 0, silent: 0, unprobed: 0, done: 0, failed: 0, declined: 0 }
      waves.set(wave, fresh)
      return fresh
    }
    for (const { onda, status, total } of this.#countStatuses(id)) {
      if (status === 'falhou') of(onda).failed += total
      else if (status === 'instalada' || status === 'entregue') of(onda).done += total
      else if (status === 'pendente' || status === 'em_andamento') of(onda).pending += total
    }
    for (const { onda, isReverted, total } of this.#countUnsettled(id)) {
      of(onda).done -= total
      of(onda)[isReverted === 1 ? 'failed' : 'unprobed'] += total
    }
    for (const { onda, estado, total } of this.#countAsked(id)) {
      if (estado !== 'withdrawn') of(onda)[estado] += total
    }
    if (silentSince !== undefined) {
      for (const { onda, total } of this.#countSilent(id, silentSince)) of(onda).silent += total
    }
    return [...waves.values()].toSorted((one, other) => one.wave - other.wave)
  }

  async listFailed(id: RolloutId, limit: number): Promise<DeliveryId[]> {
    const failed = `SELECT entregas.id FROM entregas INDEXED BY entregas_por_rollout
      WHERE rollout = ? AND onda IN (${WAVES}) AND status = 'falhou' ORDER BY onda, ordem LIMIT ?`
    const reverted = `SELECT DISTINCT entrega_id AS id FROM rollout_alvos
      WHERE rollout = ? AND estado = 'revertido' ORDER BY entrega_id LIMIT ?`
    return [failed, reverted].flatMap((sql) =>
      this.session()
        .all<{ id: DeliveryId }>(sql, id, limit)
        .map((row) => row.id),
    )
  }

  async listReached(id: RolloutId, agents: readonly AgentId[]): Promise<AgentId[]> {
    const sql = `SELECT agente_id FROM json_each(@agents) AS wanted
      CROSS JOIN rollout_agentes ON agente_id = wanted.value WHERE +rollout = @id`
    return this.session().column<AgentId>(sql, { id, agents: JSON.stringify(agents) })
  }

  async findOfferedNumber(id: AgentId, epoch: number): Promise<number | undefined> {
    const sql = `SELECT marca FROM rollout_agentes CROSS JOIN rollouts ON rollouts.id = rollout_agentes.rollout
      WHERE agente_id = ? AND rollout_agentes.kind = 'roots' AND +rollouts.epoca = ?`
    return this.session().get<{ marca: number }>(sql, id, epoch)?.marca
  }

  async listPending(id: RolloutId, limit: number): Promise<AgentId[]> {
    return this.#listInState(id, 'pending', limit).map(({ agentId }) => agentId)
  }

  async listRefusing(id: RolloutId, limit: number): Promise<RefusingHost[]> {
    return this.#listInState(id, 'failed', limit)
  }

  async listDeclined(id: RolloutId, limit: number): Promise<RefusingHost[]> {
    return this.#listInState(id, 'declined', limit)
  }

  async findAnnounced(id: AgentId): Promise<AnnouncedProgram | undefined> {
    const sql = `SELECT rollouts.id AS rollout, rollouts.programa AS version
      FROM rollout_agentes CROSS JOIN rollouts ON rollouts.id = rollout_agentes.rollout
      WHERE agente_id = ? AND rollout_agentes.kind = 'update'
        AND rollout_agentes.estado IN ('pending', 'failed', 'declined') AND rollouts.state IN (${TELLING.map((state) => `'${state}'`).join(', ')})`
    return this.session().get<AnnouncedProgram>(sql, id)
  }

  async findFreeze(): Promise<Freeze | undefined> {
    const sql = `SELECT * FROM freezes INDEXED BY freezes_abertas WHERE until > 0 AND ended_at IS NULL`
    const row = this.session().get<FreezeRow>(sql)
    return row && toFreeze(row)
  }

  #countStatuses(id: RolloutId) {
    const sql = `SELECT onda, status, count(*) AS total FROM entregas INDEXED BY entregas_por_rollout
      WHERE rollout = ? GROUP BY onda, status`
    return this.session().all<{ onda: number; status: string; total: number }>(sql, id)
  }

  /** Installed, but with a target that is waited for or taken back. */
  #countUnsettled(id: RolloutId) {
    const sql = `SELECT onda, isReverted, count(*) AS total FROM (
        SELECT e.onda AS onda, max(a.estado = 'revertido') AS isReverted
        FROM rollout_alvos a CROSS JOIN entregas e ON e.id = a.entrega_id
        WHERE a.rollout = ? AND a.estado <> 'aplicado' AND e.rollout = a.rollout
          AND e.status IN ${ON_HOST}
        GROUP BY a.entrega_id)
      GROUP BY onda, isReverted`
    return this.session().all<{ onda: number; isReverted: 0 | 1; total: number }>(sql, id)
  }

  #countAsked(id: RolloutId) {
    const sql = `SELECT onda, estado, count(*) AS total
      FROM rollout_agentes INDEXED BY rollout_agentes_por_estado WHERE rollout = ? GROUP BY estado, onda`
    type Row = { onda: number; estado: keyof RolloutCounts | 'withdrawn'; total: number }
    return this.session().all<Row>(sql, id)
  }

  #listInState(id: RolloutId, state: keyof RolloutCounts, limit: number): RefusingHost[] {
    return this.session()
      .all<{ agente_id: AgentId; erro: string | null }>(HOSTS_IN_STATE, { id, limit, state })
      .map(({ agente_id: agentId, erro: error }) => ({ agentId, error }))
  }

  #countSilent(id: RolloutId, since: Date) {
    const isSilent = `max(coalesce(agentes.last_seen_at, 0), coalesce(agentes_polls.last_poll_at, 0)) < @sinceMs`
    const sql = `SELECT onda, count(*) AS total
      FROM entregas INDEXED BY entregas_por_rollout
        CROSS JOIN agentes ON agentes.id = entregas.agente_id
        LEFT JOIN agentes_polls ON agentes_polls.agente_id = agentes.id
      WHERE rollout = @id AND onda >= 0 AND status IN ${PENDING} AND ${isSilent}
      GROUP BY onda
      UNION ALL SELECT onda, count(*) AS total
      FROM rollout_agentes INDEXED BY rollout_agentes_por_estado
        CROSS JOIN agentes ON agentes.id = rollout_agentes.agente_id
        LEFT JOIN agentes_polls ON agentes_polls.agente_id = agentes.id
      WHERE rollout = @id AND estado = 'pending' AND ${isSilent}
      GROUP BY onda`
    const named = { id, sinceMs: since.getTime() }
    return this.session().all<{ onda: number; total: number }>(sql, named)
  }
}

/** Its reads see what it wrote. */
export class SqliteRolloutWriter extends SqliteRolloutReader implements RolloutWriter {
  async insert(rollout: Rollout): Promise<void> {
    const session = this.session()
    session.about('no agent', () => session.insert('rollouts', fromRollout(rollout)))
  }

  async update(rollout: Rollout): Promise<void> {
    const session = this.session()
    const before = isUpdateRollout(rollout) ? await this.find(rollout.id) : undefined
    // Manifests name the version of an update only in some states.
    const isSeen = before !== undefined && isTelling(before) !== isTelling(rollout)
    session.about(isSeen ? 'all agents' : 'no agent', () =>
      session.update('rollouts', 'id', fromRollout(rollout)),
    )
  }

  async setContent(id: RolloutId, content: CargoContent): Promise<void> {
    const session = this.session()
    const row = {
      rollout: id,
      sha256: content.sha256,
      escrow: JSON.stringify(content.escrow),
      conteudo: content.bytes,
    }
    session.about('no agent', () => session.put('rollouts_conteudo', 'rollout', row))
  }

  async removeContent(id: RolloutId): Promise<void> {
    const session = this.session()
    const sql = 'DELETE FROM rollouts_conteudo WHERE rollout = ?'
    session.about('no agent', () => session.run(sql, id))
  }

  async give(
    { id, wave }: Pick<Rollout, 'id' | 'wave'>,
    given: readonly Replacement[],
    at: Date,
  ): Promise<void> {
    const session = this.session()
    replaceDeliveries(session, given, null, at)
    session.run(
      `UPDATE entregas SET rollout = ?, onda = ?
       FROM json_each(?) AS wanted WHERE entregas.id = wanted.value`,
      id,
      wave,
      JSON.stringify(given.map(({ successor }) => successor.id)),
    )
  }

  async ask(
    { id, wave }: Pick<Rollout, 'id' | 'wave'>,
    asked: readonly AskedHost[],
  ): Promise<void> {
    const rows = JSON.stringify(
      asked.map(({ agentId, mark, isDone, declined, isOwnRequest }) => [
        agentId,
        mark,
        isDone === true ? 'done' : declined === undefined ? 'pending' : 'declined',
        isOwnRequest === true ? 1 : 0,
        declined ?? null,
      ]),
    )
    const sql = `INSERT INTO rollout_agentes (agente_id, kind, rollout, onda, estado, marca, pediu, erro)
       SELECT wanted.value ->> 0, rollouts.kind, rollouts.id, @wave, wanted.value ->> 2, wanted.value ->> 1, wanted.value ->> 3,
         wanted.value ->> 4
       FROM json_each(@rows) AS wanted CROSS JOIN rollouts ON rollouts.id = @id WHERE true
       ON CONFLICT DO UPDATE SET rollout = excluded.rollout, onda = excluded.onda, estado = excluded.estado,
         marca = excluded.marca, pediu = excluded.pediu, erro = excluded.erro`
    const session = this.session()
    const ids = asked.map(({ agentId }) => agentId)
    session.about(ids, () => session.run(sql, { id, wave, rows }))
  }

  async withdraw(id: RolloutId, limit: number): Promise<AgentId[]> {
    const agents = await this.listPending(id, limit)
    const session = this.session()
    const named = { id, agents: JSON.stringify(agents) }
    session.about(agents, () =>
      session.run(
        `UPDATE pedidos SET rotate_at = NULL, rotate_after_seq = NULL
         FROM json_each(@agents) AS wanted CROSS JOIN rollout_agentes AS asked ON asked.agente_id = wanted.value
         WHERE pedidos.agente_id = wanted.value AND +asked.rollout = @id AND asked.pediu = 1`,
        named,
      ),
    )
    session.about(agents, () =>
      session.run(
        `UPDATE rollout_agentes SET estado = 'withdrawn'
         FROM json_each(@agents) AS wanted WHERE agente_id = wanted.value AND +rollout = @id`,
        named,
      ),
    )
    return agents
  }

  async settleUpdate(id: AgentId, { version, rollout, state, error }: UpdateReport): Promise<void> {
    const session = this.session()
    const sql = `UPDATE rollout_agentes SET estado = @state, erro = @error
      WHERE agente_id = @id AND kind = 'update' AND estado <> 'withdrawn'
        AND (SELECT programa FROM rollouts WHERE rollouts.id = rollout_agentes.rollout) = @version
        AND (@rollout IS NULL OR +rollout = @rollout)`
    const named = { id, version, rollout: rollout ?? null, state, error }
    session.about(id, () => session.run(sql, named))
  }

  async awaitTargets(id: DeliveryId, targets: readonly string[]): Promise<void> {
    if (!this.#isOfRollout(id)) return
    const named = { id, targets: JSON.stringify(targets.slice(0, REVERTED_TARGETS_MAX)) }
    this.#run(`DELETE FROM rollout_alvos WHERE entrega_id = @id AND estado = 'esperado'`, { id })
    this.#run(
      `INSERT INTO rollout_alvos (rollout, entrega_id, alvo, estado)
       SELECT entregas.rollout, entregas.id, wanted.value, 'esperado'
       FROM json_each(@targets) AS wanted CROSS JOIN entregas ON entregas.id = @id
       WHERE true ON CONFLICT DO NOTHING`,
      named,
    )
    this.#run(`DELETE FROM rollout_alvos WHERE entrega_id = @id AND estado = 'aplicado'`, { id })
  }

  async settleTarget(id: DeliveryId, target: string | undefined): Promise<void> {
    if (!this.#isOfRollout(id)) return
    this.#run(
      `DELETE FROM rollout_alvos WHERE entrega_id = @id
         AND (alvo IN (@target, '') OR (@target IS NULL AND estado = 'revertido'))`,
      { id, target: target ?? null },
    )
    // Root may apply a target before the agent has said that the entrega is installed.
    if (target !== undefined) this.#note(id, target, 'aplicado', PENDING)
  }

  async revertTarget(id: DeliveryId, target: string): Promise<void> {
    if (!this.#isOfRollout(id)) return
    this.#note(id, target, 'revertido', `('pendente', 'em_andamento', 'instalada', 'entregue')`)
  }

  async insertFreeze(freeze: Omit<Freeze, 'id'>): Promise<void> {
    const session = this.session()
    const { until, why, setBy, setAt } = freeze
    session.about('no agent', () => {
      const end = `UPDATE freezes INDEXED BY freezes_abertas SET ended_at = ?
        WHERE until > 0 AND ended_at IS NULL`
      session.run(end, setAt.getTime())
      session.insert('freezes', {
        until: until.getTime(),
        why,
        set_by: setBy,
        set_at: setAt.getTime(),
      })
    })
  }

  async endFreeze(id: Freeze['id'], at: Date): Promise<void> {
    const session = this.session()
    const sql = 'UPDATE freezes SET ended_at = ? WHERE id = ?'
    session.about('no agent', () => session.changeOne(sql, at.getTime(), id))
  }

  #note(id: DeliveryId, target: string, state: 'aplicado' | 'revertido', statuses: string): void {
    this.#run(
      `INSERT INTO rollout_alvos (rollout, entrega_id, alvo, estado)
       SELECT rollout, id, @target, @state FROM entregas
       WHERE id = @id AND status IN ${statuses}
         AND (SELECT count(*) FROM rollout_alvos WHERE entrega_id = @id AND alvo <> @target)
           < ${2 * REVERTED_TARGETS_MAX}
       ON CONFLICT DO UPDATE SET estado = excluded.estado`,
      { id, target, state },
    )
  }

  /** Most are not: nothing is written for them. */
  #isOfRollout(id: DeliveryId): boolean {
    const sql = 'SELECT rollout FROM entregas WHERE id = ?'
    return typeof this.session().get<{ rollout: string | null }>(sql, id)?.rollout === 'string'
  }

  /** No agent reads of it. */
  #run(sql: string, named: NamedParameters): void {
    const session = this.session()
    session.about('no agent', () => session.run(sql, named))
  }
}

function isTelling({ state }: Pick<Rollout, 'state'>): boolean {
  return TELLING.includes(state)
}
