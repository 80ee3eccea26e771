// What is told of a target: it was applied, or everything was put back.

import { type Static, Type } from 'typebox'
import { TargetAppliedPayload, TargetRevertedPayload } from '../../protocol/schemas.ts'
import { EventType } from '../../protocol/words.ts'

const requestId = Type.String({
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
})

/** As it waits on disk, and as it goes through `agent.sock`. */
export const TargetReport = Type.Union([
  Type.Object({
    request_id: requestId,
    entrega_id: requestId,
    tipo_evento: Type.Literal(EventType.targetApplied),
    payload: TargetAppliedPayload,
  }),
  Type.Object({
    request_id: requestId,
    entrega_id: requestId,
    tipo_evento: Type.Literal(EventType.targetReverted),
    payload: TargetRevertedPayload,
  }),
])
export type TargetReport = Static<typeof TargetReport>

/** Where a change of a target failed. */
export const FailureStep = TargetRevertedPayload.properties.step
export type FailureStep = Static<typeof FailureStep>

interface Change {
  readonly requestId: string
  readonly deliveryId: string
  readonly name: string
  readonly serial: string
}

/** Together with the rest the paths stay well under the limit of an event's payload (LIM-3). */
const PATHS_BYTES_MAX = 6000
const REASON_CHARACTERS_MAX = 1000

export function reportApplied(
  { requestId: id, deliveryId, name, serial }: Change,
  applied: {
    readonly paths: readonly string[]
    readonly isProbed: boolean
    readonly drift: readonly string[]
  },
): TargetReport {
  return {
    request_id: id,
    entrega_id: deliveryId,
    tipo_evento: EventType.targetApplied,
    payload: {
      nome: name,
      serial,
      files: boundPaths(applied.paths),
      probe: applied.isProbed ? 'ok' : null,
      ...(applied.drift.length === 0 ? {} : { drift: boundPaths(applied.drift) }),
    },
  }
}

export function reportReverted(
  { requestId: id, deliveryId, name, serial }: Change,
  step: FailureStep,
  reason: string,
): TargetReport {
  return {
    request_id: id,
    entrega_id: deliveryId,
    tipo_evento: EventType.targetReverted,
    payload: { nome: name, serial, step, reason: boundReason(reason) },
  }
}

export function boundReason(reason: string): string {
  return reason.length <= REASON_CHARACTERS_MAX
    ? reason
    : `${reason.slice(0, REASON_CHARACTERS_MAX - 1)}…`
}

function boundPaths(paths: readonly string[]): string[] {
  let room = PATHS_BYTES_MAX
  const fitting = paths.filter((path) => {
    room -= Buffer.byteLength(JSON.stringify(path))
    return room >= 0
  })
  const left = paths.length - fitting.length
  return left === 0 ? fitting : [...fitting, `… and ${left} more`]
}
