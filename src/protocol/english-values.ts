import { DeliveryKind, DeliveryStatus } from './words.ts'

/** The wire's Portuguese values by the English words that a command line takes for them. docs/protocol.md WRD-10. */
export const ENGLISH_VALUES: Readonly<Record<string, string>> = {
  sealed: DeliveryKind.sealed,
  pending: DeliveryStatus.pending,
  in_progress: DeliveryStatus.inProgress,
  installed: DeliveryStatus.installed,
  delivered: DeliveryStatus.delivered,
  failed: DeliveryStatus.failed,
  cancelled: DeliveryStatus.cancelled,
  replaced: DeliveryStatus.replaced,
  reverted: 'revertida',
}

/** Any other word is what it is. */
export function toWireValue(word: string): string {
  return Object.hasOwn(ENGLISH_VALUES, word) ? (ENGLISH_VALUES[word] ?? word) : word
}
