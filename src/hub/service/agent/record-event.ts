import { randomUUID } from 'node:crypto'
import type { Clock } from '../../../platform/clock.ts'
import type { WireErrorCode } from '../../../protocol/errors.ts'
import type { HubLimits } from '../../../protocol/hub-limits.ts'
import type { DeliveryId, EntryId } from '../../../protocol/identifiers.ts'
import type { EventRequestBody } from '../../../protocol/schemas.ts'
import { DeliveryKind, EventType } from '../../../protocol/words.ts'
import type { Agent } from '../../domain/agent.ts'
import type { AuditEntry } from '../../domain/audit-entry.ts'
import { type Delivery, isLive } from '../../domain/delivery.ts'
import { timeOfOldRequest } from '../../domain/decide-late-retry.ts'
import { entryBytesOf, type EventOverdraft } from '../../domain/event-budget.ts'
import { nextDeliveryError } from '../../domain/next-delivery-error.ts'
import { nextDeliveryStatus } from '../../domain/next-delivery-status.ts'
import { readAwaitedTargets, readTargetNews } from '../../domain/reverted-target.ts'
import type { StoreWriter } from '../../store/store.ts'
import { appendEntry } from '../append-entries.ts'
import type { ChargeEntry, EventBudget } from './event-budget.ts'
import { recordAgentTrust } from './record-agent-trust.ts'
import { recordAgentUpdate } from './record-agent-update.ts'
import { recordReportedLabels } from './record-reported-labels.ts'
import { endPredecessors } from '../cargo/replace-delivery.ts'

export type EventOutcome =
  | { readonly ok: true; readonly entryId: EntryId; readonly hash: string }
  | { readonly ok: false; readonly refusal: WireErrorCode }
  | EventOverdraft

export type RecordEvent = (agent: Agent, event: EventRequestBody) => Promise<EventOutcome>

/** Events that say that a delivery is on its host. */
const ARRIVALS: ReadonlySet<string> = new Set([
  EventType.deliveryInstalled,
  EventType.deliveryDelivered,
])

/** An agent’s event enters the audit log and moves its delivery, in one commit. docs/protocol.md EVT. */
export function createRecordEvent(
  clock: Clock,
  limits: Pick<HubLimits, 'eventPayloadBytes'>,
  budget: EventBudget,
): RecordEvent {
  return async (agent, event) => {
    // Serialised here, once: these bytes are stored and hashed.
    const payloadText = JSON.stringify(event.payload)
    if (Buffer.byteLength(payloadText) > limits.eventPayloadBytes) {
      return { ok: false, refusal: 'request_invalid' }
    }
    return budget.spend(agent.id, entryBytesOf(payloadText), (writer, charge) =>
      commitEvent(writer, { agent, event, payloadText, charge, now: clock.now() }),
    )
  }
}

interface ReceivedEvent {
  readonly agent: Agent
  readonly event: EventRequestBody
  readonly payloadText: string
  readonly charge: ChargeEntry
  readonly now: Date
}

async function commitEvent(
  writer: StoreWriter,
  { agent, event, payloadText, charge, now }: ReceivedEvent,
): Promise<EventOutcome> {
  const requestId = event.request_id ?? null
  const deliveryId = (event.entrega_id ?? null) as DeliveryId | null
  // It may have been revoked since its request was authenticated. docs/protocol.md AUT-16.
  const current = await writer.findAgentById(agent.id)
  if (current?.revokedAt !== null) return { ok: false, refusal: 'agent_revoked' }
  if (requestId !== null) {
    const earlier = await writer.findEntryByRequestId(agent.id, requestId)
    if (earlier !== undefined) return answerAgain(earlier, event, payloadText, deliveryId)
    if (await mayBeArchived(writer, requestId, now)) {
      return { ok: false, refusal: 'request_id_conflict' }
    }
  }
  const delivery = deliveryId === null ? undefined : await writer.findDelivery(deliveryId)
  if (deliveryId !== null && !isOwnLiveDelivery(delivery, agent)) {
    return { ok: false, refusal: 'entrega_not_found' }
  }
  const overdraft = await charge(now)
  if (overdraft !== undefined) return overdraft
  if (delivery !== undefined) {
    await moveDelivery(writer, delivery, event, now)
    await noteTarget(writer, delivery, event, now)
    if (ARRIVALS.has(event.tipo_evento)) {
      const cargo = await writer.findCargo(delivery.cargoId)
      if (cargo?.kind === DeliveryKind.csrCert) await adoptIdentity(writer, agent, delivery)
      await endPredecessors(writer, delivery, now)
      await writer.rollouts.awaitTargets(delivery.id, readAwaitedTargets(event.payload))
    }
  }
  const entry = await appendEntry(writer, {
    id: randomUUID() as EntryId,
    agentId: agent.id,
    eventType: event.tipo_evento,
    payloadText,
    deliveryId,
    requestId,
    at: now,
  })
  await writer.setAgentSeen(agent.id, now)
  await recordAgentTrust(writer, agent, event, now)
  await recordReportedLabels(writer, agent, event)
  await recordAgentUpdate(writer, agent, event)
  return { ok: true, entryId: entry.id, hash: entry.hash }
}

/** docs/protocol.md ARC-10. */
async function mayBeArchived(writer: StoreWriter, requestId: string, now: Date): Promise<boolean> {
  const madeAt = timeOfOldRequest(requestId, now)
  if (madeAt === undefined) return false
  const segment = await writer.findLastSegment()
  return segment !== undefined && madeAt <= new Date(segment.lastTimestamp)
}

/** The same `request_id` is the same event, sent again because its answer was lost. */
function answerAgain(
  earlier: AuditEntry,
  event: EventRequestBody,
  payloadText: string,
  deliveryId: DeliveryId | null,
): EventOutcome {
  const isSame =
    earlier.eventType === event.tipo_evento &&
    earlier.payloadText === payloadText &&
    earlier.deliveryId === deliveryId
  if (!isSame) return { ok: false, refusal: 'request_id_conflict' }
  return { ok: true, entryId: earlier.id, hash: earlier.hash }
}

function isOwnLiveDelivery(delivery: Delivery | undefined, agent: Agent): delivery is Delivery {
  return delivery?.agentId === agent.id && isLive(delivery)
}

async function moveDelivery(
  writer: StoreWriter,
  delivery: Delivery,
  event: EventRequestBody,
  now: Date,
): Promise<void> {
  const status = nextDeliveryStatus(delivery.status, event.tipo_evento)
  const error = nextDeliveryError(delivery, event.tipo_evento, event.payload)
  if (status === undefined && error === delivery.error) return
  await writer.setDeliveryStatus(delivery.id, status ?? delivery.status, now, error)
}

/** docs/protocol.md DEL-18. */
async function noteTarget(
  writer: StoreWriter,
  { id: deliveryId, agentId }: Delivery,
  event: EventRequestBody,
  now: Date,
): Promise<void> {
  const news = readTargetNews(event.tipo_evento, event.payload)
  if (news === undefined) return
  const { target } = news
  if (news.kind === 'settled') {
    await writer.rollouts.settleTarget(deliveryId, target)
    return writer.removeRevertedTargets(deliveryId, target)
  }
  await writer.rollouts.revertTarget(deliveryId, news.target)
  await writer.putRevertedTarget({
    deliveryId,
    agentId,
    target: news.target,
    since: now,
    error: news.error,
  })
}

/**
 * An agent that does not name the delivery when it asks for a certificate got an identity for it. Once it reports the
 * delivery installed, that certificate, if it was never used as an identity, stops being one. docs/protocol.md ISS.
 */
async function adoptIdentity(writer: StoreWriter, agent: Agent, delivery: Delivery): Promise<void> {
  if (await writer.hasCertificateForDelivery(delivery.id)) return
  const newest = await writer.findNewestIdentity(agent.id)
  if (newest === undefined || newest.firstUsedAt !== null) return
  await writer.setCertificateDelivered(newest.sha256, delivery.id)
}
