import type { PortName } from '../../../protocol/routes.ts'

/** What of a JSON text costs V8 more than its letters do. */
export interface JsonRoom {
  /** Names and values that are strings. */
  readonly stringsMax: number
  /** Characters outside of them: numbers, brackets, blanks. */
  readonly outsideMax: number
}

const STRANGERS: JsonRoom = { stringsMax: 256, outsideMax: Number.POSITIVE_INFINITY }

/**
 * In one body. Where the body itself is small, that bounds the rest; an operator's is as large as a sealed file, which is one
 * string, and names at most ten thousand agents. docs/protocol.md LIM-35.
 */
export const JSON_ROOM: Readonly<Record<PortName, JsonRoom>> = {
  health: STRANGERS,
  enroll: STRANGERS,
  enroll_tls: STRANGERS,
  mtls: { stringsMax: 4096, outsideMax: Number.POSITIVE_INFINITY },
  admin: { stringsMax: 65_536, outsideMax: 1024 * 1024 },
}
