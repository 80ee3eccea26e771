// What a refusal of the hub means for the work it refuses.

import type { WireErrorCode } from '../../protocol/errors.ts'
import type { HubRefusal } from './request.ts'

/**
 * `transient` is tried again for ever; `identity` too, but nothing else will be answered until it is settled;
 * `cancelled` ends the work silently; `permanent` can never succeed.
 */
export type RefusalMeaning = 'transient' | 'identity' | 'cancelled' | 'permanent'

/** Only the hub's own words are final: a proxy in the way, or a wrong URL, answers 4xx too, and may be mended. */
const REFUSED_FOR_GOOD: ReadonlySet<string> = new Set<WireErrorCode>([
  'json_invalid',
  'request_invalid',
  'csr_invalid',
  'csr_cn_mismatch',
  'hostname_mismatch',
  'role_mismatch',
  'agent_already_enrolled',
  'request_id_conflict',
  'body_too_large',
])

/** What was cancelled, replaced or removed since it was listed. */
const NOT_THERE_ANY_MORE: ReadonlySet<string> = new Set<WireErrorCode>([
  'entrega_not_found',
  'blob_not_found',
])

export function meaningOfRefusal({ status, code }: HubRefusal): RefusalMeaning {
  if (status === 401) return 'identity'
  if (status === 404 && NOT_THERE_ANY_MORE.has(code)) return 'cancelled'
  return REFUSED_FOR_GOOD.has(code) ? 'permanent' : 'transient'
}

/** An event that the hub would refuse for ever, and that would hold up the events behind it. */
export function isEventRefusedForGood(refusal: HubRefusal): boolean {
  const meaning = meaningOfRefusal(refusal)
  return meaning === 'permanent' || meaning === 'cancelled'
}

export function describeRefusal({ status, code }: HubRefusal): string {
  return `the hub answered ${status} ${code}`
}
