import { randomBytes, randomUUID } from 'node:crypto'
import { AdminRefusal, type Write } from '../admin-act.ts'
import { isEventType, type WebhookId } from '../../../protocol/identifiers.ts'
import { formatSelector } from '../../../protocol/selector.ts'
import { HubEventType } from '../../../protocol/words.ts'
import { nameWebhook, newWebhook, type Webhook } from '../../domain/webhook.ts'
import { isSent, secretFrom } from '../../domain/webhook-message.ts'
import { decideReceiver, receiverOf } from '../../domain/receiver.ts'
import { findHeaderFault } from '../../domain/receiver-headers.ts'
import type { StoreWriter } from '../../store/store.ts'
import { parseDecidingWhere } from '../parse-where.ts'
import { toAdminWebhook, type WebhookContext } from './webhook-views.ts'

interface WantedWebhook extends Pick<Webhook, 'url' | 'types' | 'where'> {
  readonly headers?: readonly string[]
  readonly password?: string | undefined
}

/** Each has one request under way at most, so that these are all that there are at a time. */
const WEBHOOKS_MAX = 100
const KEY_BYTES = 32

/** It gets what is recorded from now on. The secret is in the answer and in the vault, nowhere else. */
export const createWebhook: Write<'createWebhook', WebhookContext> = async (
  writer,
  request,
  { clock },
) => {
  const url = parseWebhookUrl(request.url)
  const types = parseSentTypes(request.tipos)
  const where = request.where === undefined ? null : parseDecidingWhere(request.where)
  refuseTooMany((await writer.webhooks.list()).length + 1)
  const headers = parseReceiverHeaders(url, request.headers)
  const asked = { url, types, where, headers, password: request.password }
  const { webhook: created, secret } = await insertWebhook(writer, asked, clock.now())
  const payload = {
    ...nameWebhook(created),
    tipos: types,
    ...(where && { where: formatSelector(where) }),
  }
  return {
    acts: [{ type: HubEventType.webhookCreated, payload }],
    // Nothing was recorded since.
    reply: { ...toAdminWebhook(created, { backlog: 0, dead: 0 }), secret },
    news: { areWebhooksChanged: true },
  }
}

/** In its one form. */
export function parseWebhookUrl(text: string): string {
  const verdict = decideReceiver(text)
  if (verdict.ok) return verdict.url
  throw new AdminRefusal('url_invalid', `a webhook cannot use this URL: ${verdict.reason}`)
}

function parseReceiverHeaders(url: string, headers: readonly string[] = []): readonly string[] {
  if (headers.length > 0 && receiverOf(url).format !== 'otlp') {
    throw new AdminRefusal('headers_invalid', 'only a receiver of OTLP takes headers')
  }
  const fault = findHeaderFault(headers)
  if (fault === undefined) return headers
  throw new AdminRefusal('headers_invalid', fault)
}

const PRINTABLE = /^[\x20-\x7e]+$/

/** A user needs one, and nobody else has a use for it. */
function refusePassword(url: string, password: string | undefined): void {
  const receiver = receiverOf(url)
  const needsOne = receiver.format === 'mail' && receiver.user !== undefined
  if (needsOne && password === undefined) {
    throw new AdminRefusal('password_invalid', 'the user in this URL needs a password')
  }
  if (!needsOne && password !== undefined) {
    throw new AdminRefusal('password_invalid', 'this URL names no user of a mail server')
  }
  if (password !== undefined && !PRINTABLE.test(password)) {
    throw new AdminRefusal('password_invalid', 'the password is not printable ASCII')
  }
}

/** Without repetitions. */
export function parseSentTypes(tipos: readonly string[]): readonly string[] {
  for (const type of tipos) requireSentType(type)
  return [...new Set(tipos)]
}

export function refuseTooMany(count: number): void {
  if (count <= WEBHOOKS_MAX) return
  throw new AdminRefusal('too_many_webhooks', `there are ${WEBHOOKS_MAX} webhooks already`)
}

export async function insertWebhook(
  writer: StoreWriter,
  { url, types, where, headers = [], password }: WantedWebhook,
  createdAt: Date,
): Promise<{ readonly webhook: Webhook; readonly secret: string | null }> {
  refusePassword(url, password)
  // Only the form of Standard Webhooks has signatures; what else is kept as the secret is what the operator brought.
  const isSigned = receiverOf(url).format === 'webhook'
  const secret = isSigned ? secretFrom(randomBytes(KEY_BYTES)) : null
  const id = randomUUID() as WebhookId
  // The next entry is the one that says so; what comes after that is sent.
  const cursorSeq = ((await writer.findChainEnd())?.seq ?? 0) + 1
  const webhook = newWebhook({ id, url, types, where, createdAt, cursorSeq })
  await writer.webhooks.insert(webhook, secret ?? password ?? headers.join('\n'))
  return { webhook, secret }
}

function requireSentType(type: string): void {
  if (!isEventType(type)) {
    throw new AdminRefusal('tipo_invalid', `${type} is not a type of event`, { tipo: type })
  }
  if (!isSent({ eventType: type })) {
    throw new AdminRefusal(
      'tipo_invalid',
      `${type} is a type that the hub records, but sends to no webhook`,
    )
  }
}
