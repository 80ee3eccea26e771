import { DeliveryStatus, EventType } from '../../protocol/words.ts'
import type { Delivery } from './delivery.ts'
import { nextDeliveryStatus } from './next-delivery-status.ts'

const ERROR_CHARACTERS_MAX = 1024

/**
 * What is shown as wrong with a delivery after an event. While it is failed that is the reason of its failure; else what
 * its targets on the host could not do, until they could. docs/protocol.md DEL, TGT.
 */
export function nextDeliveryError(
  { status, error }: Pick<Delivery, 'status' | 'error'>,
  eventType: string,
  payload: object,
): string | null {
  const next = nextDeliveryStatus(status, eventType)
  if (next === DeliveryStatus.failed) return bounded(textOf(payload, 'erro'))
  if (next !== undefined) return status === DeliveryStatus.failed ? null : error
  if (status === DeliveryStatus.failed) return error
  if (eventType === EventType.targetApplied || eventType === EventType.targetRemoved) return null
  if (eventType !== EventType.targetReverted) return error
  return bounded(`${eventType} ${textOf(payload, 'step')}: ${textOf(payload, 'reason')}`)
}

function textOf(payload: object, field: string): string {
  const value: unknown = Object.hasOwn(payload, field) ? Reflect.get(payload, field) : undefined
  return typeof value === 'string' ? value : ''
}

function bounded(text: string): string {
  return text.slice(0, ERROR_CHARACTERS_MAX)
}
