import type { WebhookId } from '../../../protocol/identifiers.ts'
import {
  DEAD_MESSAGES_MAX,
  type DeadMessage,
  type Webhook,
  type WebhookProgress,
} from '../../domain/webhook.ts'
import type { WebhookReader, WebhookWriter } from '../webhook-store.ts'
import type { SqlSession } from './sql-session.ts'
import {
  type DeadMessageRow,
  fromDeadMessage,
  fromProgress,
  fromWebhook,
  toDeadMessage,
  toWebhook,
  type WebhookRow,
} from './webhook-rows.ts'

/** `session` answers the connection to ask, or throws when it may not be used now. */
export class SqliteWebhookReader implements WebhookReader {
  protected readonly session: () => SqlSession

  constructor(session: () => SqlSession) {
    this.session = session
  }

  async find(id: WebhookId): Promise<Webhook | undefined> {
    const row = this.session().get<WebhookRow>('SELECT * FROM webhooks WHERE id = ?', id)
    return row === undefined ? undefined : toWebhook(row)
  }

  async list(): Promise<Webhook[]> {
    return this.session().all<WebhookRow>('SELECT * FROM webhooks ORDER BY ordem').map(toWebhook)
  }

  async findSecret(id: WebhookId): Promise<string | undefined> {
    const sql = 'SELECT segredo FROM webhooks WHERE id = ?'
    return this.session().get<{ segredo: string }>(sql, id)?.segredo
  }

  async listDead(id: WebhookId): Promise<DeadMessage[]> {
    const sql = 'SELECT * FROM webhooks_mortos WHERE webhook_id = ? ORDER BY seq'
    return this.session().all<DeadMessageRow>(sql, id).map(toDeadMessage)
  }

  async countDead(id: WebhookId): Promise<number> {
    const sql = 'SELECT count(*) AS total FROM webhooks_mortos WHERE webhook_id = ?'
    return this.session().get<{ total: number }>(sql, id)?.total ?? 0
  }

  async listDeadToReplay(id: WebhookId): Promise<DeadMessage[]> {
    const sql = 'SELECT * FROM webhooks_mortos WHERE webhook_id = ? AND repetir = 1 ORDER BY seq'
    return this.session().all<DeadMessageRow>(sql, id).map(toDeadMessage)
  }

  async countEntriesOfType(eventType: string, afterSeq: number, max: number): Promise<number> {
    const sql = `SELECT count(*) AS total FROM (SELECT 1 FROM eventos INDEXED BY eventos_por_tipo
      WHERE tipo_evento = ? AND seq > ? LIMIT ?)`
    return this.session().get<{ total: number }>(sql, eventType, afterSeq, max)?.total ?? 0
  }
}

/** Its reads see what it wrote. */
export class SqliteWebhookWriter extends SqliteWebhookReader implements WebhookWriter {
  async insert(webhook: Webhook, secret: string): Promise<void> {
    this.session().insert('webhooks', { ...fromWebhook(webhook), segredo: secret })
  }

  async remove(id: WebhookId): Promise<boolean> {
    return this.session().run('DELETE FROM webhooks WHERE id = ?', id) === 1
  }

  async setProgress(
    id: WebhookId,
    generation: number,
    progress: WebhookProgress,
  ): Promise<boolean> {
    const changes = this.session().runQuietly(
      `UPDATE webhooks SET cursor_seq = @cursor_seq, tentativas = @tentativas,
         espera_ms = @espera_ms, next_attempt_at = @next_attempt_at,
         last_success_at = @last_success_at, last_error_at = @last_error_at, erro = @erro
       WHERE id = @id AND geracao = @geracao`,
      { ...fromProgress(progress), id, geracao: generation },
    )
    return changes === 1
  }

  async setFilter(webhook: Webhook): Promise<void> {
    const { id, tipos, seletor, disabled_at, parado_em } = fromWebhook(webhook)
    this.session().changeOne(
      `UPDATE webhooks SET tipos = @tipos, seletor = @seletor, disabled_at = @disabled_at,
         parado_em = @parado_em, geracao = geracao + 1, next_attempt_at = NULL,
         tentativas = 0, espera_ms = 0 WHERE id = @id`,
      { id, tipos, seletor, disabled_at, parado_em },
    )
  }

  async setDisabled(id: WebhookId, at: Date): Promise<void> {
    const sql = `UPDATE webhooks SET disabled_at = @at, parado_em = iif(seletor IS NULL, NULL, @at)
      WHERE id = @id`
    this.session().changeOne(sql, { id, at: at.getTime() })
  }

  async restart(id: WebhookId, cursorSeq: number): Promise<void> {
    this.session().changeOne(
      `UPDATE webhooks SET geracao = geracao + 1, next_attempt_at = NULL,
         disabled_at = iif(seletor IS NULL, NULL, created_at), parado_em = NULL,
         tentativas = iif(cursor_seq = @seq, tentativas, 0),
         espera_ms = iif(cursor_seq = @seq, espera_ms, 0), cursor_seq = @seq
       WHERE id = @id`,
      { id, seq: cursorSeq },
    )
  }

  async insertDead(...messages: readonly DeadMessage[]): Promise<void> {
    for (const message of messages) {
      this.session().run(
        `INSERT INTO webhooks_mortos (webhook_id, seq, died_at, erro, repetir)
         VALUES (@webhook_id, @seq, @died_at, @erro, 0)
         ON CONFLICT (webhook_id, seq)
         DO UPDATE SET died_at = excluded.died_at, erro = excluded.erro, repetir = 0`,
        { ...fromDeadMessage(message) },
      )
    }
    // Once: to find the oldest of a thousand takes a walk over them.
    for (const id of new Set(messages.map(({ webhookId }) => webhookId))) {
      this.session().run(
        `DELETE FROM webhooks_mortos WHERE webhook_id = @id AND seq <= (SELECT seq
           FROM webhooks_mortos WHERE webhook_id = @id ORDER BY seq DESC LIMIT 1 OFFSET @max)`,
        { id, max: DEAD_MESSAGES_MAX },
      )
    }
  }

  async markDeadToReplay(id: WebhookId): Promise<void> {
    this.session().run('UPDATE webhooks_mortos SET repetir = 1 WHERE webhook_id = ?', id)
  }

  async removeDeadAfter(id: WebhookId, afterSeq: number): Promise<void> {
    const sql = 'DELETE FROM webhooks_mortos WHERE webhook_id = ? AND seq > ?'
    this.session().run(sql, id, afterSeq)
  }

  async removeDead(id: WebhookId, seq: number): Promise<void> {
    const sql = 'DELETE FROM webhooks_mortos WHERE webhook_id = ? AND seq = ?'
    this.session().run(sql, id, seq)
  }
}
