import type { Clock } from '../../../platform/clock.ts'
import { invariant, UserError } from '../../../platform/errors.ts'
import type { AdminRequest } from '../../../protocol/admin/operations.ts'
import { HubEventType } from '../../../protocol/words.ts'
import type { Actor } from '../../domain/actor.ts'
import { nameWebhook, type Webhook } from '../../domain/webhook.ts'
import type { Store, StoreReader } from '../../store/store.ts'
import { findWebhook } from './find-webhook.ts'
import { recordHubAct } from '../hub-acts.ts'
import { parseTime } from '../parse-time.ts'

type Replay = AdminRequest<'replayWebhook'>

/** What was sent already is sent again from there on, or what was given up once more; without either it goes on at once. */
export async function replayWebhook(
  store: Store,
  clock: Clock,
  request: Replay,
  actor: Actor,
): Promise<Webhook> {
  const since = request.since === undefined ? undefined : parseTime(request.since)
  if ([request.seq, since, request.dead === true ? true : undefined].filter(isGiven).length > 1) {
    throw new UserError('usage', 'seq, since and dead do not go together')
  }
  return store.write(async (writer) => {
    const webhook = await findWebhook(writer, request.webhook)
    const cursorSeq = await chooseCursor(writer, webhook, request.seq, since)
    if (request.dead === true) await writer.webhooks.markDeadToReplay(webhook.id)
    // Those after the cursor come by again anyway.
    await writer.webhooks.removeDeadAfter(webhook.id, cursorSeq)
    await writer.webhooks.restart(webhook.id, cursorSeq)
    await recordHubAct(writer, clock.now(), HubEventType.webhookReplayed, {
      actor,
      ...nameWebhook(webhook),
      after_seq: cursorSeq,
      dead: request.dead === true,
    })
    const replayed = await writer.webhooks.find(webhook.id)
    invariant(replayed !== undefined, 'the endpoint is there while it is written')
    return replayed
  })
}

async function chooseCursor(
  reader: StoreReader,
  { progress: { cursorSeq } }: Webhook,
  seq: number | undefined,
  since: Date | undefined,
): Promise<number> {
  if (seq === undefined && since === undefined) return cursorSeq
  const first = seq ?? (await findFirstSeq(reader, since))
  if (first !== undefined && first <= cursorSeq + 1) return first - 1
  throw new UserError('replay_ahead', 'nothing from there on was sent yet', {
    hint: `the last entry that is done is ${cursorSeq}`,
  })
}

async function findFirstSeq(
  reader: StoreReader,
  since: Date | undefined,
): Promise<number | undefined> {
  if (since === undefined) return undefined
  const [first] = await reader.listEntries({ afterSeq: 0, limit: 1, since })
  return first?.seq
}

function isGiven(value: unknown): boolean {
  return value !== undefined
}
