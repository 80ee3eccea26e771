import { DeliveryStatus, EventType } from '../../protocol/words.ts'
import { ABSENT_STATUSES } from './delivery.ts'

const MOVES: Readonly<Record<string, { to: DeliveryStatus; from: readonly DeliveryStatus[] }>> = {
  [EventType.deliveryInstalled]: { to: DeliveryStatus.installed, from: ABSENT_STATUSES },
  [EventType.deliveryDelivered]: {
    to: DeliveryStatus.delivered,
    from: [...ABSENT_STATUSES, DeliveryStatus.installed],
  },
  [EventType.deliveryFailed]: { to: DeliveryStatus.failed, from: ABSENT_STATUSES },
}

/** Where an event moves a delivery, or undefined when it stays; a finished delivery never moves back. */
export function nextDeliveryStatus(
  current: DeliveryStatus,
  eventType: string,
): DeliveryStatus | undefined {
  const move = Object.hasOwn(MOVES, eventType) ? MOVES[eventType] : undefined
  return move?.from.includes(current) ? move.to : undefined
}
