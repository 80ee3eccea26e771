import { type BodyRoom, LEAST_BODY_ROOM } from '../../../protocol/admin/body-room.ts'
import type { PortName } from '../../../protocol/routes.ts'

/** What of a JSON text costs V8 more than its letters do. */
export type JsonRoom = Pick<BodyRoom, 'stringsMax' | 'outsideMax'>

const STRANGERS: JsonRoom = { stringsMax: 256, outsideMax: Number.POSITIVE_INFINITY }

/**
 * In one body, of a route that has no room of its own. Where the body itself is small, that bounds the rest. docs/protocol.md LIM-35.
 */
export const JSON_ROOM: Readonly<Record<PortName, JsonRoom>> = {
  health: STRANGERS,
  enroll: STRANGERS,
  enroll_tls: STRANGERS,
  mtls: { stringsMax: 4096, outsideMax: Number.POSITIVE_INFINITY },
  admin: LEAST_BODY_ROOM,
}
