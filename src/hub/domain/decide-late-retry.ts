// An event whose answer was lost is sent again under its `request_id`, and recorded once. What was recorded long ago is archived, and the
// vault knows its `request_id` no longer: an id that says it is from that time is refused. docs/protocol.md ARC-10.

import { ARCHIVE_AGE_MIN_MS } from './log-archive.ts'

const TIME_ORDERED = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/i
const TIME_HEX_DIGITS = 12

/** When the id was made, of a UUID of version 7 (RFC 9562), such as agents make, that is so old that its entry may be archived. */
export function timeOfOldRequest(requestId: string, now: Date): Date | undefined {
  if (!TIME_ORDERED.test(requestId)) return undefined
  const madeMs = Number.parseInt(requestId.replaceAll('-', '').slice(0, TIME_HEX_DIGITS), 16)
  return now.getTime() - madeMs < ARCHIVE_AGE_MIN_MS ? undefined : new Date(madeMs)
}
