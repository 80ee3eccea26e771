import { formatSelector } from '../../../protocol/selector.ts'
import type { DeadMessage, Webhook, WebhookProgress } from '../../domain/webhook.ts'
import { type Instant, fromDate, toDate } from './instants.ts'
import { toSelector } from './selector-columns.ts'

/**
 * A step of migrations.ts. An earlier program would send a webhook with a selector every entry. So `disabled_at` of such a row is
 * never null, and an earlier program, which does not know `seletor`, sends it nothing; `parado_em` says whether it is disabled.
 */
export const SELECTOR_WEBHOOKS = `
ALTER TABLE webhooks ADD COLUMN seletor TEXT CHECK (seletor IS NULL OR disabled_at IS NOT NULL);
ALTER TABLE webhooks ADD COLUMN parado_em INTEGER CHECK (parado_em IS NULL OR seletor IS NOT NULL);
`

interface ProgressRow {
  cursor_seq: number
  tentativas: number
  espera_ms: number
  next_attempt_at: Instant | null
  last_success_at: Instant | null
  last_error_at: Instant | null
  erro: string | null
}

export interface WebhookRow extends ProgressRow {
  id: Webhook['id']
  url: string
  tipos: string
  created_at: Instant
  disabled_at: Instant | null
  seletor: string | null
  parado_em: Instant | null
  geracao: number
}

export interface DeadMessageRow {
  webhook_id: Webhook['id']
  seq: number
  died_at: Instant
  erro: string
}

export function toWebhook(row: WebhookRow): Webhook {
  return {
    id: row.id,
    url: row.url,
    types: JSON.parse(row.tipos) as string[],
    where: row.seletor === null ? null : toSelector(row.seletor),
    createdAt: new Date(row.created_at),
    disabledAt: toDate(row.seletor === null ? row.disabled_at : row.parado_em),
    generation: row.geracao,
    progress: {
      cursorSeq: row.cursor_seq,
      attempts: row.tentativas,
      waitedMs: row.espera_ms,
      nextAttemptAt: toDate(row.next_attempt_at),
      lastSuccessAt: toDate(row.last_success_at),
      lastErrorAt: toDate(row.last_error_at),
      lastError: row.erro,
    },
  }
}

export function fromWebhook(webhook: Webhook): WebhookRow {
  const { where, createdAt, disabledAt } = webhook
  return {
    id: webhook.id,
    url: webhook.url,
    tipos: JSON.stringify(webhook.types),
    created_at: createdAt.getTime(),
    disabled_at: fromDate(disabledAt ?? (where === null ? null : createdAt)),
    seletor: where === null ? null : formatSelector(where),
    parado_em: where === null ? null : fromDate(disabledAt),
    geracao: webhook.generation,
    ...fromProgress(webhook.progress),
  }
}

export function fromProgress(progress: WebhookProgress): ProgressRow {
  return {
    cursor_seq: progress.cursorSeq,
    tentativas: progress.attempts,
    espera_ms: progress.waitedMs,
    next_attempt_at: fromDate(progress.nextAttemptAt),
    last_success_at: fromDate(progress.lastSuccessAt),
    last_error_at: fromDate(progress.lastErrorAt),
    erro: progress.lastError,
  }
}

export function toDeadMessage(row: DeadMessageRow): DeadMessage {
  return {
    webhookId: row.webhook_id,
    seq: row.seq,
    diedAt: new Date(row.died_at),
    error: row.erro,
  }
}

export function fromDeadMessage(message: DeadMessage): DeadMessageRow {
  return {
    webhook_id: message.webhookId,
    seq: message.seq,
    died_at: message.diedAt.getTime(),
    erro: message.error,
  }
}
