// What a webhook carries: an entry of the audit log, the same bytes at every attempt, whatever form it is sent in; and the signature
// of Standard Webhooks.

import { hash, createHmac } from 'node:crypto'
import type { WebhookId } from '../../protocol/identifiers.ts'
import { HubEventType, WEBHOOK_TEST } from '../../protocol/words.ts'
import type { AuditEntry } from './audit-entry.ts'
import { type Severity, severityOf } from './entry-severity.ts'

export interface WebhookMessage {
  /** `webhook-id`: the same for the same entry and endpoint, whenever it is sent. */
  readonly id: string
  readonly type: string
  readonly timestamp: string
  readonly severity: Severity
  readonly data: Readonly<Record<string, unknown>>
  /** All but the id and the severity, as JSON. */
  readonly body: string
}

/** The hub, as forms that name their sender have it. */
export interface MessageSource {
  readonly hostname: string
  readonly version: string
}

const PAYLOAD_BYTES_MAX = 16 * 1024
const SECRET_PREFIX = 'whsec_'

/** A message that died, told to endpoints that let theirs die too, would breed. */
export function isSent(entry: Pick<AuditEntry, 'eventType'>): boolean {
  return entry.eventType !== HubEventType.webhookDead
}

export function messageOfEntry(
  webhookId: WebhookId,
  entry: AuditEntry,
  hostname: string | null,
): WebhookMessage {
  const data = {
    seq: entry.seq,
    id: entry.id,
    agente_id: entry.agentId,
    hostname,
    entrega_id: entry.deliveryId,
    hash_atual: entry.hash,
    ...describePayload(entry.payloadText),
  }
  const severity = severityOf(entry.eventType, entry.agentId !== null)
  return composeMessage(
    messageId(webhookId, entry.id),
    severity,
    entry.eventType,
    entry.timestamp,
    data,
  )
}

/** Of no entry: what an operator asked for, to see whether it arrives. */
export function testMessage(webhookId: WebhookId, timestamp: string): WebhookMessage {
  const id = messageId(webhookId, `${WEBHOOK_TEST}.${timestamp}`)
  return composeMessage(id, 'notice', WEBHOOK_TEST, timestamp, { webhook_id: webhookId })
}

function composeMessage(
  id: string,
  severity: Severity,
  type: string,
  timestamp: string,
  data: WebhookMessage['data'],
): WebhookMessage {
  return { id, type, timestamp, severity, data, body: renderBody(type, timestamp, data) }
}

export function messageId(webhookId: WebhookId, name: string): string {
  const digest = hash('sha256', `${webhookId}.${name}`, 'hex')
  return `msg_${digest.slice(0, 32)}`
}

export function renderBody(type: string, timestamp: string, data: object): string {
  return JSON.stringify({ type, timestamp, data })
}

/** The value of `webhook-signature`, whose key is the base64 after `whsec_`. */
export function signMessage(
  secret: string,
  { id, body }: Pick<WebhookMessage, 'id' | 'body'>,
  timestampSeconds: number,
): string {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const signature = createHmac('sha256', key)
    .update(`${id}.${timestampSeconds}.${body}`)
    .digest('base64')
  return `v1,${signature}`
}

export function secretFrom(key: Buffer): string {
  return SECRET_PREFIX + key.toString('base64')
}

/** Null for a payload that is too long, or no longer JSON; a receiver that needs it reads the log. */
function describePayload(text: string): { payload: unknown; payload_bytes: number } {
  const bytes = Buffer.byteLength(text)
  return { payload: bytes > PAYLOAD_BYTES_MAX ? null : parseOrNull(text), payload_bytes: bytes }
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text) as unknown
  } catch {
    return null
  }
}
