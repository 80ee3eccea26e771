// What is told of a target: it was applied, or everything was put back.

import { type Static, type TSchema, Type } from 'typebox'
import {
  FileTargetAppliedPayload,
  FileTargetRevertedPayload,
  TargetAppliedPayload,
  TargetRevertedPayload,
} from '../../protocol/schemas.ts'
import { EventType } from '../../protocol/words.ts'

const requestId = Type.String({
  pattern: '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$',
})

function applied<Payload extends TSchema>(payload: Payload) {
  const type = Type.Literal(EventType.targetApplied)
  return Type.Object({ request_id: requestId, entrega_id: requestId, tipo_evento: type, payload })
}

function reverted<Payload extends TSchema>(payload: Payload) {
  const type = Type.Literal(EventType.targetReverted)
  return Type.Object({ request_id: requestId, entrega_id: requestId, tipo_evento: type, payload })
}

export const PairTargetReport = Type.Union([
  applied(TargetAppliedPayload),
  reverted(TargetRevertedPayload),
])
export type PairTargetReport = Static<typeof PairTargetReport>

export const FileTargetReport = Type.Union([
  applied(FileTargetAppliedPayload),
  reverted(FileTargetRevertedPayload),
])
export type FileTargetReport = Static<typeof FileTargetReport>

/** As it waits on disk, and as it goes through `agent.sock`. */
export const TargetReport = Type.Union([PairTargetReport, FileTargetReport])
export type TargetReport = PairTargetReport | FileTargetReport

/** Where a change of a target failed. */
export const FailureStep = TargetRevertedPayload.properties.step
export type FailureStep = Static<typeof FailureStep>

interface Change {
  readonly requestId: string
  readonly deliveryId: string
  readonly name: string
  readonly serial: string
  /** Of a file. */
  readonly version: number | undefined
}

/** Together with the rest the paths stay well under the limit of an event's payload (LIM-3). */
const PATHS_BYTES_MAX = 6000
const REASON_CHARACTERS_MAX = 1000

export function reportApplied(
  change: Change,
  {
    paths,
    isProbed,
    drift: drifted,
  }: {
    readonly paths: readonly string[]
    readonly isProbed: boolean
    readonly drift: readonly string[]
  },
): TargetReport {
  const { requestId: id, deliveryId, name: nome, serial, version } = change
  const common = { request_id: id, entrega_id: deliveryId, tipo_evento: EventType.targetApplied }
  const files = boundPaths(paths)
  const drift = drifted.length === 0 ? {} : { drift: boundPaths(drifted) }
  if (version !== undefined)
    return { ...common, payload: { nome, versao: version, files, ...drift } }
  const probe = isProbed ? 'ok' : null
  return { ...common, payload: { nome, serial, files, probe, ...drift } }
}

export function reportReverted(
  { requestId: id, deliveryId, name: nome, serial, version }: Change,
  step: FailureStep,
  text: string,
): TargetReport {
  const common = { request_id: id, entrega_id: deliveryId, tipo_evento: EventType.targetReverted }
  const reason = boundReason(text)
  return version === undefined
    ? { ...common, payload: { nome, serial, step, reason } }
    : { ...common, payload: { nome, versao: version, step, reason } }
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
