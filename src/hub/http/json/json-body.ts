// JSON bodies: UTF-8, bounded in depth and in strings, and with no number that would come out changed when it is written again.

import { RequestRefusal } from './request-refusal.ts'
import { findJsonExcess, findJsonFault } from './find-json-fault.ts'
import type { JsonRoom } from './json-room.ts'

/** What the stack has room for, where the value is written again, when the limit is lifted. */
const STACK_DEPTH_MAX = 1000

export interface JsonBounds extends JsonRoom {
  /** Levels of nested objects and arrays. */
  readonly depthMax: number
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/**
 * Throws a RequestRefusal: `json_invalid` when it is not JSON, `request_invalid` when it is too deep or loses digits. One
 * with too much in it is `request_invalid` too, JSON or not, since that is not worth finding out.
 */
export function parseJsonBody(body: Uint8Array, bounds: JsonBounds): unknown {
  const text = decodeUtf8(body)
  const excess = findJsonExcess(text, bounds)
  if (excess !== undefined) throw new RequestRefusal('request_invalid', excess)
  const value = parseJson(text)
  const fault = findJsonFault(text, Math.min(bounds.depthMax, STACK_DEPTH_MAX))
  if (fault !== undefined) throw new RequestRefusal('request_invalid', fault)
  return value
}

function decodeUtf8(body: Uint8Array): string {
  try {
    return utf8.decode(body)
  } catch {
    throw new RequestRefusal('json_invalid', 'not UTF-8')
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new RequestRefusal('json_invalid', 'not JSON')
  }
}
