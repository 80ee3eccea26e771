// What a refusal of the hub means for the work it refuses.

import type { HubRefusal } from './hub-request.ts'

/**
 * `transient` is tried again for ever; `identity` too, but nothing else will be answered until it is settled;
 * `cancelled` ends the work silently; `permanent` can never succeed.
 */
export type RefusalMeaning = 'transient' | 'identity' | 'cancelled' | 'permanent'

const REFUSED_FOR_GOOD: ReadonlySet<number> = new Set([400, 403, 409, 413])

export function meaningOfRefusal({ status, code }: HubRefusal): RefusalMeaning {
  if (status === 401) return 'identity'
  if (status === 404 && code === 'entrega_not_found') return 'cancelled'
  return REFUSED_FOR_GOOD.has(status) ? 'permanent' : 'transient'
}

/** An event that is refused with any other 4xx would be refused for ever, and would hold up those behind it. */
export function isEventRefusedForGood({ status }: HubRefusal): boolean {
  return status >= 400 && status < 500 && ![401, 408, 429].includes(status)
}

export function describeRefusal({ status, code }: HubRefusal): string {
  return `the hub answered ${status} ${code}`
}
